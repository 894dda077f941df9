import ArgumentParser
import Foundation
import SettingDefinitions
import SluiceSettings

/// Which running `serve` a command talks to.
struct ControlOptions: ParsableArguments {
    @Option(help: .setting(.adminSocket, "The socket of the process.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The address of the private port of the process, instead of its socket: for another machine.",
            valueName: "host:port"
        )
    )
    var admin: String?

    @Option(
        help: .setting(.adminTokenFile, "The file with the token for the private port.", valueName: "file"),
        completion: .file()
    )
    var tokenFile: String?

    @OptionGroup var config: ConfigurationFile

    func validate() throws {
        if socket != nil, admin != nil { throw ValidationError("--socket and --admin exclude each other.") }
        if tokenFile != nil, admin == nil { throw ValidationError("--token-file needs --admin.") }
    }

    /// The process, as the options and the settings name it.
    ///
    /// - Throws: exit status 1, with the reason printed, if there is no socket, or the token cannot be read.
    func process() async throws -> RunningProcess {
        if let admin {
            if let file = try config.text(.adminTokenFile, option: tokenFile) {
                return RunningProcess(.port(admin, token: try Self.token(in: file)))
            }
            return RunningProcess(.port(admin, token: try config.text(.adminToken, option: nil)))
        }
        let path = try await Self.socketPath(config, option: socket)
        guard FileManager.default.fileExists(atPath: path) else {
            throw Terminal.failure(
                "No process of Sluice has a socket at '\(path)'. Name the socket with --socket, or the private port with --admin."
            )
        }
        return RunningProcess(.socket(path))
    }

    /// The path of the socket that the settings name.
    static func socketPath(_ config: ConfigurationFile, option: String? = nil) async throws -> String {
        if let path = try config.text(.adminSocket, option: option) { return path }
        let journal = try config.text(.journalFolder, option: nil) ?? Settings.defaultJournalFolder
        return Settings.socketPath(ofJournal: journal)
    }

    private static func token(in file: String) throws -> String {
        guard let bytes = try? SecretFile.contents(of: file) else {
            throw Terminal.failure("The file '\(file)' with the token cannot be read.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
