import ArgumentParser
import EventModel
import EventQuarantine
import EventValidation

/// `sluice quarantine`: shows rejected and refused events.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract:
            "Show the events in the quarantine (the dead-letter queue); `sluice replay quarantine` sends them again.",
        subcommands: [
            QuarantineListCommand.self, QuarantineShowCommand.self, QuarantineStatsCommand.self,
            QuarantineExportCommand.self,
        ]
    )
}

/// The quarantine that a subcommand reads.
struct QuarantineLocation: ParsableArguments {
    @Option(help: .setting(.quarantineFolder, valueName: "dir"), completion: .directory)
    var quarantine: String?

    @OptionGroup var config: ConfigurationFile

    /// The folder that the option, the environment or the configuration file names, or the default.
    func folder() async throws -> String {
        try await config.text(.quarantineFolder, option: quarantine) ?? SettingDefaults.quarantineFolder
    }

    /// The keys of the records that replays have sent again.
    func sentKeys() async throws -> Set<String> {
        let folder = try await folder()
        return try Terminal.reportingFailures { try SentRecords(ofQuarantine: folder, changes: false).keys }
    }

    /// Calls `body` with each record that the filter selects.
    ///
    /// Damage is printed after the last record, and throws exit status 1.
    func forEach(_ filter: QuarantineFilter, _ body: (QuarantineRecord) throws -> Void) async throws {
        let folder = try await folder()
        try Terminal.reportingFailures {
            var scan = try QuarantineScan(QuarantineFolder(path: folder), filter)
            while let record = try scan.next() { try body(record) }
            for finding in scan.findings { Terminal.printError("error: \(finding)") }
            if !scan.findings.isEmpty { throw ExitCode(1) }
        }
    }
}

/// The records that a subcommand reads.
struct QuarantineSelection: ParsableArguments {
    @Option(help: ArgumentHelp("Only events whose verdict has this code; can be repeated.", valueName: "code"))
    var code: [String] = []

    @Option(help: ArgumentHelp("Only events with this name; can be repeated.", valueName: "name"))
    var event: [String] = []

    @Option(help: ArgumentHelp("Only events quarantined at or after this time (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events quarantined before this time (RFC 3339).", valueName: "time"))
    var until: String?

    func validate() throws { _ = try filter() }

    func filter() throws -> QuarantineFilter {
        try QuarantineFilter(codes: code, events: event, since: since, until: until)
    }
}

extension QuarantineFilter {
    /// Creates a filter from the values of `--code`, `--event`, `--since` and `--until`.
    ///
    /// - Throws: `ValidationError` for an unknown code, which could never match, and for an invalid time.
    init(codes: [String], events: [String], since: String?, until: String?) throws {
        let known = VerdictCode.allCases.map(\.rawValue) + DeliveryVerdict.allCases.map(\.rawValue)
        if let unknown = codes.first(where: { !known.contains($0) }) {
            throw ValidationError("There is no code '\(unknown)'; there are: \(known.joined(separator: ", ")).")
        }
        self.init(
            codes: Set(codes),
            events: Set(events),
            since: try Timestamp(option: "--since", since),
            until: try Timestamp(option: "--until", until)
        )
    }
}
