import ArgumentParser
import Foundation
import SystemPackage

/// `sluice init`: a folder to begin with.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a folder with a first tracking plan, which explains itself, and its settings.",
        discussion: """
            Writes events/orders.plist and sluice.json, and prints what to do next. Nothing is ever overwritten: where \
            there is an events folder or a sluice.json already, it ends with 1 and writes nothing.
            """
    )

    @Argument(
        help: ArgumentHelp("The folder; it is made where it is not there.", valueName: "folder"),
        completion: .directory
    )
    var folder = "."

    func validate() throws {
        // An unset variable of a script must not make it another folder.
        if folder.isEmpty { throw ValidationError("The folder has an empty name.") }
    }

    func run() throws {
        let events = path("events")
        let settings = path("sluice.json")
        for path in [events, settings] where Self.isTaken(path) {
            throw Terminal.failure("'\(path)' is there already; nothing was written.")
        }
        try write(
            [(StarterPlan.plist, events + "/orders.plist"), (StarterPlan.settings, settings)],
            makingFolder: events
        )
        try Terminal.print("Made \(events)/orders.plist, a plan to be changed, and \(settings). Next:\n")
        if folder != "." { try Terminal.print("    cd \(Self.quoted(folder))") }
        try Terminal.print(TerminalText(escapingLinesOf: StarterPlan.nextSteps))
    }

    /// Whether a path is in use, be it by a link that leads nowhere.
    private static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Writes all the files or none.
    private func write(_ files: [(text: String, path: String)], makingFolder path: String) throws {
        var folders = MadeFolders()
        var made: [String] = []
        do {
            try folders.make(path)
            for file in files { try Self.write(file.text, to: file.path, &made) }
        } catch {
            for path in made { unlink(path) }
            folders.remove()
            guard let reason = error as? Errno else { throw error }
            throw Terminal.failure("'\(folder)' cannot be filled: \(reason)")
        }
    }

    private func path(_ name: String) -> String {
        if folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    private static func write(_ text: String, to path: String, _ made: inout [String]) throws {
        let descriptor = try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        made.append(path)
        try descriptor.closeAfter { _ = try descriptor.writeAll(text.utf8) }
    }

    /// A path as a shell takes it.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            byte > 0x7F || "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8.contains(byte)
        }
        return isPlain ? path : "'" + path.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}
