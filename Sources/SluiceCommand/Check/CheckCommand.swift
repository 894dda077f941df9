import ArgumentParser
import EventSchema
import EventValidation
import Logging
import PlanReading
import SluiceHTTP
import SluiceSettings
import TrackerKit

/// `sluice check`: checks whether `sluice serve` would find everything it needs.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Connect to every configured destination, and report what is missing and how to fix it.",
        discussion: """
            Takes the settings of 'sluice serve'. Checks the plan, the folders of the journal and the quarantine, and each \
            destination as far as is possible without writing: that PostgreSQL lets the role log in, has every table and \
            column, and grants the privileges that loading needs; that Kafka's brokers answer and every topic exists. It \
            cannot check whether Kafka lets the user write.

            If privacy.receiptsFolder is set, PostgreSQL must have the tombstones of all receipts of 'sluice forget': without them, it \
            was restored from a backup, and erased people are back. With a relay, the PostgreSQL of the loader is compared.

            If load.group is set, PostgreSQL must also have the tables and privileges of 'sluice load'; with a relay, the \
            trackers of the loader are checked besides the relay.

            Writes nothing, creates no table, topic or folder, and reports all problems in one run.

            Exits with 0 if there are no problems, 1 if there are, and 64 for wrong usage.
            """
    )

    @Option(help: ArgumentHelp("How long each destination may take to answer, in seconds.", valueName: "seconds"))
    var timeout = 10

    @OptionGroup var journal: JournalOptions

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions
    @OptionGroup var options: PipelineOptions

    func validate() throws {
        guard (1...86_400).contains(timeout) else {
            throw ValidationError("--timeout takes a number of seconds from 1 to 86400.")
        }
    }

    func run() async throws {
        let stated = CommandLineSettings(plan, trackers, options, journal)
        let settings = try Settings.load(stated, file: plan.config.path, keepsJournal: true)
        let reading = PlanReader().read(paths: [settings.process.eventsFolder])
        // Even with an invalid plan, the connections to the destinations are checked.
        let wiring = Wiring(settings, plan: reading.plan ?? TrackingPlan(events: []), minimumLogLevel: .error)
        var parts = [
            CheckReport.Part(plan: reading, at: settings.process.eventsFolder),
            FolderCheck.part("quarantine", settings.process.quarantineFolder),
        ]
        if settings.tls != nil { parts.append(Self.tlsPart(settings, wiring)) }
        if let journal = settings.journal { parts.append(FolderCheck.part("journal", journal.folder)) }
        let configured = wiring.trackers()
        if reading.plan != nil { Self.noteMissingTrackers(of: wiring, configured, in: &parts[0]) }
        if let problem = wiring.problem(with: wiring.catalog) {
            let code = wiring.catalog.lacksHashKey ? "missing-hash-key" : "restricted-value"
            parts[0].problems.append(CheckReport.Problem(code: code, sentence: problem))
        }
        let usesLoader = settings.load?.group != nil
        let check = DestinationCheck(
            catalog: wiring.catalog,
            usesJournal: settings.journal != nil,
            loadsPartitions: usesLoader,
            limit: .seconds(timeout)
        )
        parts += await check.parts(of: configured)
        var storing = configured
        if settings.relay != nil {
            let wiring = try wiringWithoutRelay(stated, reading.plan)
            if usesLoader { parts += await loaderParts(wiring) }
            storing = wiring.trackers()
        }
        if let part = await receiptPart(settings, storing, parts) { parts.append(part) }
        let report = CheckReport(parts: parts)
        if json {
            try Terminal.print(try JSONText.of(report))
        } else {
            try Terminal.print(lines: report.lines)
        }
        if !report.isOK { throw ExitCode(1) }
    }

    /// The wiring of a loader, whose trackers store what a server sends to the relay.
    private func wiringWithoutRelay(_ stated: CommandLineSettings, _ plan: TrackingPlan?) throws -> Wiring {
        let settings = try Settings.load(stated, file: self.plan.config.path, usesRelay: false)
        return Wiring(settings, plan: plan ?? TrackingPlan(events: []), minimumLogLevel: .error)
    }

    /// The destinations of a loader, to which a server with a relay does not deliver.
    private func loaderParts(_ wiring: Wiring) async -> [CheckReport.Part] {
        let check = DestinationCheck(
            catalog: wiring.catalog,
            usesJournal: false,
            loadsPartitions: true,
            limit: .seconds(timeout)
        )
        return await check.parts(of: wiring.trackers())
    }

    /// Whether the destinations that answer know whose events were erased.
    private func receiptPart(
        _ settings: Settings,
        _ trackers: [any Tracker],
        _ parts: [CheckReport.Part]
    ) async -> CheckReport.Part? {
        let silence = [TrackerError.Code.unavailable, .timeout, .misconfigured, .invalidSettings].map(\.description)
        let silent = Set(parts.filter { $0.problems.contains { silence.contains($0.code) } }.map(\.name))
        let erasing = trackers.filter { !silent.contains($0.name) }.compactMap { $0 as? any ErasingTracker }
        return await ReceiptCheck(settings: settings, trackers: erasing, limit: .seconds(timeout)).part()
    }

    /// Whether the server can use its certificate.
    private static func tlsPart(_ settings: Settings, _ wiring: Wiring) -> CheckReport.Part {
        var part = CheckReport.Part(name: "TLS", summary: settings.tls?.certificate ?? "", problems: [])
        do throws(TLSFiles.Problem) {
            _ = try settings.tls.map { paths throws(TLSFiles.Problem) in try TLSFiles(paths, logger: wiring.logger) }
        } catch {
            part.problems.append(CheckReport.Problem(code: "tls-unusable", sentence: error.description))
        }
        return part
    }

    /// Notes the trackers that events name and that are not configured, as errors if they would keep `serve` from starting.
    private static func noteMissingTrackers(
        of wiring: Wiring,
        _ trackers: [any Tracker],
        in part: inout CheckReport.Part
    ) {
        let match = TrackerMatch(of: wiring.catalog, configured: trackers.map(\.name))
        let missing = match.unconfigured.map {
            CheckReport.Problem(code: "unconfigured-tracker", sentence: match.description(of: $0))
        }
        if wiring.settings.process.strictTrackers { part.problems += missing } else { part.warnings += missing }
    }
}
