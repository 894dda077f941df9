import ArgumentParser
import Configuration
import EventSchema
import Logging
import PlanReading
import TrackerKit

/// `sluice check`: whether everything is there that `sluice serve` needs.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Connect to every configured destination, and say what is missing there and how to put it right.",
        discussion: """
            Takes the settings that 'sluice serve' takes. Checks the plan, the folders of the journal and the quarantine, \
            and at each destination what can be checked without writing: that PostgreSQL lets the role in, has every \
            table and column, and grants the privileges that loading needs; that Kafka's brokers answer and every topic \
            exists. Whether Kafka lets the user write shows only when something is written.

            Writes nothing, creates no table, topic or folder, and prints all problems in one run.

            Exits with 0 when nothing is wrong, 1 when something is, 64 when it was called wrongly.
            """
    )

    @Option(help: ArgumentHelp("How long each destination has to answer.", valueName: "seconds"))
    var timeout = 10

    @Option(
        help: ArgumentHelp("Where serve will keep accepted events.", valueName: "dir"),
        completion: .directory
    )
    var journal: String?

    @Flag(name: .customLong("no-journal"), help: "Serve will keep accepted events in memory only.")
    var hasNoJournal = false

    @Flag(help: "Print one JSON object instead.")
    var json = false

    @OptionGroup var options: PipelineOptions

    func validate() throws {
        if hasNoJournal, journal != nil { throw ValidationError("--journal and --no-journal exclude each other.") }
        guard (1...86_400).contains(timeout) else {
            throw ValidationError("--timeout takes a number of seconds from 1 to 86400.")
        }
    }

    private var values: [SettingKey: ConfigValue] {
        var values = options.values
        if let journal {
            values[.journalFolder] = ConfigValue(.string(journal), isSecret: false)
            values[.journalEnabled] = ConfigValue(.bool(true), isSecret: false)
        }
        if hasNoJournal { values[.journalEnabled] = ConfigValue(.bool(false), isSecret: false) }
        return values
    }

    func run() async throws {
        let settings = try await Settings.load(values, file: options.plan.config, keepsJournal: true)
        let reading = PlanReader().read(paths: [settings.eventsDirectory])
        // Without a plan the destinations can still be asked whether they let us in.
        let wiring = Wiring(settings, plan: reading.plan ?? TrackingPlan(events: []), logsOnly: .error)
        var parts = [
            CheckReport.Part(plan: reading, at: settings.eventsDirectory),
            FolderCheck.part("quarantine", settings.quarantineFolder),
        ]
        if let journal = settings.journal { parts.append(FolderCheck.part("journal", journal.folder)) }
        let trackers = try wiring.trackers()
        if reading.plan != nil { parts[0].problems += Self.missingTrackers(of: wiring, trackers) }
        let check = DestinationCheck(
            catalog: wiring.catalog,
            usesJournal: settings.journal != nil,
            limit: .seconds(timeout)
        )
        parts += await check.parts(of: trackers)
        let report = CheckReport(parts: parts)
        if json {
            try Terminal.print(try JSONText.of(report))
        } else {
            try Terminal.print(lines: report.lines)
        }
        if !report.isOK { throw ExitCode(1) }
    }

    /// Events that name a tracker nobody configured, where that keeps `serve` from starting.
    private static func missingTrackers(of wiring: Wiring, _ trackers: [any Tracker]) -> [CheckReport.Problem] {
        guard wiring.settings.strictTrackers else { return [] }
        return wiring.missingTrackers(besides: trackers.map(\.name)).map { tracker, events in
            CheckReport.Problem(code: "unconfigured-tracker", sentence: Wiring.sentence(on: tracker, events))
        }
    }
}
