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
        for path in [events, settings] where FileManager.default.fileExists(atPath: path) {
            Terminal.printError("error: '\(path)' is there already; nothing was written.")
            throw ExitCode(1)
        }
        do {
            try FileManager.default.createDirectory(atPath: events, withIntermediateDirectories: true)
            try Self.write(StarterPlan.plist, to: events + "/orders.plist")
            try Self.write(StarterPlan.settings, to: settings)
        } catch {
            let reason = (error as? Errno).map(String.init(describing:)) ?? error.localizedDescription
            Terminal.printError("error: '\(folder)' cannot be filled: \(reason)")
            throw ExitCode(1)
        }
        print("Made \(events)/orders.plist, a plan to be changed, and \(settings). Next:\n")
        if folder != "." { print("    cd \(Self.quoted(folder))") }
        print(StarterPlan.nextSteps)
    }

    private func path(_ name: String) -> String {
        if folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
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
