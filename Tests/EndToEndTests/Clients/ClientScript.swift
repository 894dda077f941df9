import Foundation
import ServerTestSupport
import Testing

/// A Python script that uses the SDKs which `make setup-test` installs.
enum ClientScript {
    /// Starts a script of `Tests/Support/Clients`.
    static func start(
        _ name: String,
        _ arguments: [String],
        in folder: TestFolder,
        input: SluiceProcess.Input = .nothing
    ) throws -> SluiceProcess {
        let python = try program("python3")
        let script = RepositoryFile.url("Tests/Support/Clients/\(name).py").path
        return try SluiceProcess([script] + arguments, executable: python, in: folder, input: input)
    }

    /// A program of the Python environment.
    static func program(_ name: String) throws -> URL {
        let program = RepositoryFile.url(".run/clients/bin/\(name)")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "the SDKs are not installed: run `make setup-test`"
        )
        return program
    }

    /// Runs a script to its end, and returns its output.
    static func run(_ name: String, _ arguments: [String], in folder: TestFolder) async throws -> [String] {
        let process = try start(name, arguments, in: folder)
        let ending = try await process.waitForEnd()
        #expect(ending == .exit(0), "\(process.errors.lines.suffix(5).joined(separator: "\n"))")
        return process.output?.lines ?? []
    }
}
