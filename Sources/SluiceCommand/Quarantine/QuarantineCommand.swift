import ArgumentParser
import EventJournal
import EventModel
import EventQuarantine
import EventValidation
import Foundation

/// `sluice quarantine`: what was rejected, and why.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Look at rejected events; `sluice replay quarantine` sends on what passes now.",
        subcommands: [
            QuarantineListCommand.self, QuarantineShowCommand.self, QuarantineStatsCommand.self,
            QuarantineExportCommand.self,
        ]
    )
}

/// Which quarantine is meant.
struct QuarantineLocation: ParsableArguments {
    @Option(help: ArgumentHelp("The quarantine's folder.", valueName: "dir"), completion: .directory)
    var quarantine: String?

    @Option(
        help: ArgumentHelp("A configuration file (JSON); `sluice settings` lists what can stand in it."),
        completion: .file()
    )
    var config: String?

    /// The folder that the option, the environment or the file names, or the default.
    func folder() async throws -> String {
        try await Settings.text(.quarantineFolder, stated: quarantine, file: config)
            ?? Settings.defaultQuarantineFolder
    }
}

/// Which of its records are meant.
struct QuarantineSelection: ParsableArguments {
    @Option(help: ArgumentHelp("Only events with this code among their reasons; can be repeated.", valueName: "code"))
    var code: [String] = []

    @Option(help: ArgumentHelp("Only this event; can be repeated.", valueName: "name"))
    var event: [String] = []

    @Option(help: ArgumentHelp("Only what was put there at or after this time (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only what was put there before this time (RFC 3339).", valueName: "time"))
    var until: String?

    func validate() throws { _ = try filter() }

    func filter() throws -> QuarantineFilter {
        QuarantineFilter(
            codes: try VerdictCodes.checked(code),
            events: Set(event),
            since: try Timestamp(option: "--since", since),
            until: try Timestamp(option: "--until", until)
        )
    }
}

/// The codes that a record may have.
enum VerdictCodes {
    /// Refuses a code that no record has: a filter that can never match is a slip.
    static func checked(_ codes: [String]) throws -> Set<String> {
        let known = VerdictCode.allCases.map(\.rawValue) + DeliveryVerdict.allCases.map(\.rawValue)
        guard let unknown = codes.first(where: { !known.contains($0) }) else { return Set(codes) }
        throw ValidationError("There is no code '\(unknown)'; there are: \(known.joined(separator: ", ")).")
    }
}

extension Timestamp {
    /// The time that an option states; `nil` where it was not given.
    init?(option: String, _ text: String?) throws {
        guard let text else { return nil }
        guard let time = Timestamp(text) else {
            throw ValidationError("\(option) takes an RFC 3339 time such as 2010-12-01T00:00:00Z, not '\(text)'.")
        }
        self = time
    }
}

extension QuarantineCommand {
    /// Goes through the records that are meant; what is damaged is said, and ends the command with 1.
    static func forEach(
        in folder: String,
        _ filter: QuarantineFilter,
        _ body: (QuarantineRecord) throws -> Void
    ) throws {
        let isWhole = try JournalCommand.attempt {
            var scan = try QuarantineScan(QuarantineFolder(path: folder), filter)
            while let record = try scan.next() { try body(record) }
            for finding in scan.findings { Terminal.printError("error: \(finding)") }
            return scan.findings.isEmpty
        }
        if !isWhole { throw ExitCode(1) }
    }
}
