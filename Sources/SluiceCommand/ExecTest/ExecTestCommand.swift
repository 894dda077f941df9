import ArgumentParser
import EventModel
import Foundation
import Logging
import SluiceExec
import SluiceSettings
import SluiceTesting
import TrackerKit

/// `sluice exec-test`: tests a program that is to be a tracker of the type `exec`.
struct ExecTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec-test",
        abstract: "Test whether a program can be a tracker of the type exec.",
        discussion: """
            Starts the program several times, and tests that it keeps to the protocol 'lines': that it answers empty, large and \
            repeated deliveries, answers none before it has read all of it, continues after it was killed, and ends when it is asked \
            to. The events have the name 'Contract Tested'; point the program to a destination for tests.

            With --delivered, it also tests that each event is in the destination, once and in order, also after a retry and a \
            restart.

            Exits with 0 if every promise is kept, 1 if one is broken, and 64 for wrong usage.
            """
    )

    @Option(
        help: ArgumentHelp(
            """
            A command for sh that prints the id of each event in the destination, one a line and as often as the event is there.
            """,
            valueName: "command"
        )
    )
    var delivered: String?

    @Flag(help: "The destination does not keep the order of events.")
    var unordered = false

    @Flag(help: "The destination stores an event once that is delivered twice.")
    var deduplicates = false

    @Option(
        help: ArgumentHelp(
            "Test the program of this tracker, with its environment and its directory, instead of a command.",
            valueName: "name"
        )
    )
    var tracker: String?

    @OptionGroup var config: ConfigurationFile

    @Argument(help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty == (tracker == nil) {
            throw ValidationError("Give either a program after --, or --tracker with the name of a tracker.")
        }
        if delivered == nil, unordered || deduplicates {
            throw ValidationError("--unordered and --deduplicates describe the destination that --delivered reads.")
        }
    }

    func run() async throws {
        let logger = Logger(label: "sluice") { label in TerminalLogHandler(label: label) }
        let exec = try configuration()
        var broken = 0
        for result in try await ProgramContract(exec, logger: logger).results() {
            broken += result.instead == nil ? 0 : 1
            try Self.report(result.promise, instead: result.instead)
        }
        if let delivered {
            let missing = Set(ProgramContract.idsAfterKill).subtracting(try Self.ids(printedBy: delivered))
            broken += missing.isEmpty ? 0 : 1
            try Self.report(
                "no event is lost of a delivery during which the program is killed",
                instead: missing.isEmpty ? nil : "\(missing.count.of("event")) of it are not in the destination"
            )
            broken += try await brokenPromises(exec, logger, delivered)
        }
        if broken > 0 { throw Terminal.failure("\(broken.of("promise")) broken.") }
    }

    private func configuration() throws -> ExecConfiguration {
        guard let tracker else { return ExecConfiguration(command: command) }
        let reader = try SettingsReader(options: CommandLineSettings(), file: config.path)
        let programs = reader.trackers().compactMap { $0.configuration(of: ExecTracker.self) }
        try reader.finish()
        if let program = programs.first(where: { $0.name.lowercased() == tracker.lowercased() }) {
            guard program.protocol == .lines else {
                throw ValidationError(
                    "The tracker '\(program.name)' has the protocol \(program.protocol.rawValue), which this does not test; use 'sluice check'."
                )
            }
            return program
        }
        let known = programs.isEmpty ? "none" : programs.map(\.name).joined(separator: ", ")
        throw ValidationError("No tracker '\(tracker)' of the type exec is configured; there are: \(known).")
    }

    /// Tests the promises of every tracker, and prints those that are broken.
    private func brokenPromises(_ exec: ExecConfiguration, _ logger: Logger, _ delivered: String) async throws -> Int {
        let contract = TrackerContract(
            traits: .init(keepsOrder: !unordered, deduplicates: deduplicates),
            makeTracker: { ExecTracker(exec, logger: logger) },
            delivered: { try Self.ids(printedBy: delivered) }
        )
        do {
            try await contract.verify()
            try Self.report("every promise of a tracker, as its destination shows", instead: nil)
            return 0
        } catch let error as TrackerContract.BrokenPromises {
            for promise in error.promises { try Self.report(promise.promise, instead: promise.instead) }
            return error.promises.count
        }
    }

    private static func report(_ promise: String, instead: String?) throws {
        try Terminal.print(lines: instead.map { ["broken: \(promise)", "        \($0)"] } ?? ["kept:   \(promise)"])
    }

    private static func ids(printedBy command: String) throws -> [EventID] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Terminal.failure(
                "The command of --delivered ended with the status \(Int(process.terminationStatus))."
            )
        }
        return try text.split(separator: "\n").map { line in
            if let id = EventID(String(line)) { return id }
            throw Terminal.failure(
                "The command of --delivered must print one id per line, but printed '\(line.prefix(100))'."
            )
        }
    }
}
