import Foundation
import ServerTestSupport
import SluiceTesting
import Testing

/// The result of a completed run of the program.
struct Finished {
    /// The report that `replay --json` prints.
    struct Report: Decodable {
        var read: Int
        var accepted: Int
        var rejected: Int
        var skipped: Int
        var rejectedByCode: [String: Int]
        var delivered: [String: Int]
        var alreadyThere: [String: Int]
        var refused: [String: Int]
        var parked: [String: Int]
        var undelivered: [String: Int]
        var notes: [String]
        var failures: [String]
        var seconds: Double
    }

    let ending: SluiceProcess.Ending
    /// The lines of standard output.
    let output: [String]
    /// The lines of standard error.
    let errors: [String]

    /// The report, which is the last line of standard output, or of standard error if the console tracker prints events.
    func report() throws -> Report {
        let line = [output.last, errors.last].compactMap { $0 }.first { $0.hasPrefix(#"{"accepted":"#) } ?? ""
        return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }
}

/// Runs the program as a user does.
enum Sluice {
    /// The project's own plan.
    static let plan = RepositoryFile.url("events").path

    /// Runs the program to its end.
    static func run(
        _ arguments: String...,
        in folder: TestFolder,
        environment: [String: String] = [:],
        input: SluiceProcess.Input = .nothing
    ) async throws -> Finished {
        try await run(arguments, in: folder, environment: environment, input: input)
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: [String],
        in folder: TestFolder,
        environment: [String: String] = [:],
        input: SluiceProcess.Input = .nothing
    ) async throws -> Finished {
        let process = try SluiceProcess(arguments, in: folder, environment: environment, input: input)
        let ending = try await process.waitForEnd()
        return Finished(ending: ending, output: process.output?.lines ?? [], errors: process.errors.lines)
    }

    /// The standard output of a run that must succeed.
    static func output(of arguments: [String]) async throws -> String {
        let run = try await run(arguments, in: TestFolder())
        try #require(run.ending == .exit(0), "sluice \(arguments.joined(separator: " "))")
        return run.output.joined(separator: "\n")
    }

    /// Replays with the project's plan; the events and the report are JSON, and only errors are logged.
    static func replay(
        _ arguments: String...,
        in folder: TestFolder,
        plan: String = Sluice.plan,
        environment: [String: String] = [:],
        input: SluiceProcess.Input = .nothing
    ) async throws -> Finished {
        try await replay(arguments, in: folder, plan: plan, environment: environment, input: input)
    }

    /// Replays with the project's plan; the events and the report are JSON, and only errors are logged.
    static func replay(
        _ arguments: [String],
        in folder: TestFolder,
        plan: String = Sluice.plan,
        environment: [String: String] = [:],
        input: SluiceProcess.Input = .nothing
    ) async throws -> Finished {
        let fixed = ["replay", "--events", plan, "--format", "json", "--json", "--log-level", "error"]
        return try await run(fixed + arguments, in: folder, environment: environment, input: input)
    }
}
