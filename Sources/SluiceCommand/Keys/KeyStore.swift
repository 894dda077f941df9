import ArgumentParser
import EventModel
import EventSchema
import Foundation
import PlanReading
import SettingDefinitions
import SluiceHTTP
import SluiceSettings
import SystemPackage

/// The file with the keys that a subcommand reads or changes.
struct KeyStore: ParsableArguments {
    @Option(help: .setting(.httpKeys, valueName: "file"), completion: .file())
    var keys: String?

    @OptionGroup var config: ConfigurationFile

    /// The keys in the file; none if it does not exist.
    func read() async throws -> [WriteKey] { try Self.read(try await path()) }

    func exists() async throws -> Bool { FileManager.default.fileExists(atPath: try await path()) }

    /// Warns that the first key in the file ends the time in which anyone may send.
    ///
    /// - Throws: exit status 1, with the reason printed, if a server runs on this machine that accepts events without a key, unless
    ///   `isConfirmed`.
    func warnOfFirstKey(isConfirmed: Bool) async throws {
        guard try await !exists() else { return }
        let path = try await path()
        if !isConfirmed, try await RunningProcess(.socket(ControlOptions.socketPath(config))).isRunning {
            throw Terminal.failure(
                """
                A server is running, and there is no file '\(path)', so it probably accepts events without a key. With the first \
                key, it will reject all senders without one within a second. Prepare the senders, and then repeat the command \
                with --yes.
                """
            )
        }
        Terminal.printError(
            """
            warning: This is the first key in '\(path)'. From now on, a server that uses the file rejects every request \
            without a key.
            """
        )
    }

    /// Says how senders state a key; the key itself is shown only on a terminal, because logs keep what others print.
    static func explainHeader(_ text: String) {
        let key = Terminal.isInteractive ? text : "KEY"
        Terminal.printError("Senders state it in a header: Authorization: Bearer \(key)")
    }

    /// Changes the keys in the file, which is locked meanwhile against other commands.
    func change(_ body: (inout [WriteKey]) throws -> Void) async throws {
        let path = try await path()
        let folder = FilePath(path).removingLastComponent().string
        let lock = try Self.lock(folder.isEmpty ? "." : folder)
        defer { try? lock.close() }
        var keys = try Self.read(path)
        try body(&keys)
        do throws(IngestError) {
            try WriteKeys.check(keys)
        } catch {
            throw ValidationError(error.message)
        }
        try FileTransaction.run {
            try $0.replaceRegular(path, KeyFile.bytes(of: keys), newMode: 0o600, keepsOwner: true)
        }
    }

    /// Warns of events that the plan does not have, if the plan's folder can be read on this machine.
    func warnOfUnknownEvents(_ names: [String]) async throws {
        guard !names.isEmpty else { return }
        let folder = try config.text(.eventsFolder, option: nil) ?? ProcessSettings.defaults.eventsFolder
        guard let plan = PlanReader().read(paths: [folder]).plan else { return }
        let known = plan.events.map(\.name)
        for name in names where !known.contains(name) {
            let hint = Spelling.nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? "."
            Terminal.printError("warning: The plan in '\(folder)' has no event '\(name)'\(hint)")
        }
    }

    private func path() async throws -> String {
        try config.text(.httpKeys, option: keys) ?? Settings.defaultKeyFile
    }

    private static func read(_ path: String) throws -> [WriteKey] {
        do throws(KeyFile.Problem) {
            guard let bytes = try KeyFile.contents(of: path) else { return [] }
            return try KeyFile.keys(from: bytes)
        } catch {
            throw Terminal.failure("The write keys in '\(path)' cannot be used: \(error)")
        }
    }

    /// Locks the folder of the file, because the file itself is replaced.
    private static func lock(_ folder: String) throws -> FileDescriptor {
        do {
            let descriptor = try FileDescriptor.open(FilePath(folder), .readOnly, options: [.closeOnExec])
            guard flock(descriptor.rawValue, LOCK_EX) == 0 else { throw Errno(rawValue: errno) }
            return descriptor
        } catch {
            throw Terminal.failure("The folder '\(folder)' cannot be locked: \(error).")
        }
    }
}

extension [WriteKey] {
    /// The position of the key of this name.
    ///
    /// - Throws: exit status 1, with the names that there are printed, if there is none.
    func position(of name: String) throws -> Int {
        if let position = firstIndex(where: { $0.name == name }) { return position }
        let names = isEmpty ? "none" : map(\.name).joined(separator: ", ")
        throw Terminal.failure("There is no key '\(name)'; there are: \(names).")
    }

    /// Adds a key whose name is new.
    mutating func add(_ key: WriteKey) throws {
        guard !contains(where: { $0.name == key.name }) else {
            throw Terminal.failure("There is a key '\(key.name)' already; 'sluice keys rotate' gives it a new value.")
        }
        append(key)
    }
}

/// The texts of new keys.
enum KeyText {
    /// A random text of 256 bits, which a URL and a header can contain as it is.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let text = Data(bytes).base64EncodedString()
        return "sluice_"
            + text.replacing("+", with: "-").replacing("/", with: "_").trimmingCharacters(
                in: CharacterSet(charactersIn: "=")
            )
    }
}
