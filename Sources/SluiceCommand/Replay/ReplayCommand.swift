import ArgumentParser
import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Logging
import SluiceReplay
import SluiceSettings
import TrackerKit
import UnixSignals

/// `sluice replay`: validates recorded events again, and delivers them to the configured trackers.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Validate events from files, standard input, a journal or the quarantine, and deliver them.",
        discussion: """
            Files and standard input hold NDJSON or the output of `sluice quarantine export`, plain or gzip. journal://DIR \
            is a journal, which a server may be writing; with --since or --until, only the parts that may hold such events \
            are read. An event of a file without an id gets one derived from its line and all lines before it, so that trackers \
            that check ids store it once even if the file is replayed again, under another name, compressed, or with \
            more lines; the report counts as "already there" what PostgreSQL had before. An event of standard \
            input without an id gets a new one. Events of a journal keep their ids and times.

            `quarantine` is the configured quarantine. Events that are valid now are sent again, once; the others stay. \
            --since and --until then select by the time at which an event was quarantined. An event that one tracker did \
            not deliver is sent to that tracker only, and stays if the plan no longer sends it there. With --to, only events \
            are sent that need no other configured tracker. Events that their sender's write key did not allow are sent \
            only with --code forbidden-event, and those whose time is too far from their arrival only with --code \
            time-out-of-range.

            With --from TRACKER, `quarantine` is the table of the records that `sluice load` could not load into that \
            tracker, such as one of PostgreSQL. They are sent to that tracker only. Those that it has stored are removed from the table; all others stay \
            there, and nothing is added to the quarantine.

            Prints a report at the end: on standard output, or on standard error if the console tracker prints events.

            Exits with 0 if everything was read, accepted and delivered; 2 if events were rejected; 1 if something could \
            not be read or delivered, which includes a tracker, table or topic that cannot start, and deliveries without \
            progress for half a minute to a minute; and 64 for wrong usage.
            """
    )

    /// The number of attempts to start a tracker; the pauses between them add up to 6 to 13 s.
    private static let maximumStartAttempts = 8
    /// The number of deliveries in a row that may fail without progress; their pauses add up to 26 to 53 s.
    private static let maximumDeliveryAttempts = 12

    @Argument(
        help: ArgumentHelp(
            "Files; - for standard input, journal://DIR for a journal, quarantine for the quarantine.",
            valueName: "path"
        ),
        completion: .file()
    )
    var paths: [String] = ["-"]

    @Option(help: ArgumentHelp("Deliver to this tracker only; can be repeated. Default: all.", valueName: "tracker"))
    var to: [String] = []

    @Option(help: ArgumentHelp("Only events with this name; can be repeated. Default: all.", valueName: "name"))
    var event: [String] = []

    @Option(help: ArgumentHelp("Only events at or after this time (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events before this time (RFC 3339).", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "Of quarantined events, only those whose verdict has this code; can be repeated. Default: all.",
            valueName: "code"
        )
    )
    var code: [String] = []

    @OptionGroup var refused: RefusedRecordOptions

    @Option(help: ArgumentHelp("The maximum number of events per second. Default: no limit.", valueName: "number"))
    var rate: Int?

    @Flag(help: "Validate only: deliver nothing, and add nothing to the quarantine.")
    var dryRun = false

    @Flag(help: "Print the report as one JSON object.")
    var json = false

    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions
    @OptionGroup var options: PipelineOptions

    func validate() throws {
        if let rate, rate < 1 { throw ValidationError("--rate takes a number of at least 1.") }
        _ = try filter()
        _ = try quarantineFilter()
        if !code.isEmpty, !inputs.contains(.quarantine) {
            throw ValidationError("--code selects quarantined events, and the quarantine is not among the paths.")
        }
        if refused.from != nil {
            if inputs != [.quarantine] {
                throw ValidationError("--from selects refused records, so the only path with it is quarantine.")
            }
            if !to.isEmpty || options.relay != nil || trackers.quarantine != nil {
                throw ValidationError(
                    "With --from, records are sent to that tracker only; --to, --relay and --quarantine cannot be used with it."
                )
            }
        }
        if inputs.contains(.journal(folder: "")) {
            throw ValidationError("After journal://, give the journal's folder, as in journal:///var/lib/journal.")
        }
        if inputs.count(where: { $0 == .quarantine }) > 1 {
            throw ValidationError("The quarantine can be read only once.")
        }
        if inputs.count(where: { $0 == .standardInput }) > 1 {
            throw ValidationError("Standard input can be read only once.")
        }
    }

    func run() async throws {
        // A replay ends when the reader of its output has gone, as other Unix tools do.
        Terminal.ignoresBrokenPipes(false)
        var settings = try Settings.load(
            CommandLineSettings(plan, trackers, options),
            file: plan.config.path,
            usesRelay: refused.from == nil
        )
        settings.pipeline.maximumStartAttempts = settings.process.strictTrackers ? 1 : Self.maximumStartAttempts
        settings.pipeline.maximumDeliveryAttempts = Self.maximumDeliveryAttempts
        let wiring = try Wiring(settings)
        let filter = try filter(against: wiring.catalog)
        let records = try refused.records(in: settings.trackers, logger: wiring.logger)
        let to = records.map { [$0.trackerName] } ?? to
        let selected = try wiring.select(to, from: wiring.trackers())
        let trackers = dryRun ? [] : selected.map { records?.noting($0) ?? $0 }
        // A dry run keeps nothing on purpose, and refused records stay where they are, so it must not be logged that this quarantine
        // discards events.
        let keepsNothing = dryRun || records != nil
        let quarantine = keepsNothing ? Quarantine.discarding(logger: Self.silent) : try wiring.quarantine()
        let pipeline = try wiring.pipeline(
            trackers: trackers,
            quarantine: quarantine,
            reportsMissing: !dryRun && to.isEmpty
        )
        let receipts = try wiring.receipts(into: pipeline.tombstones)
        var replay = Replay(
            of: inputs,
            through: pipeline,
            rejectedEvents: quarantine,
            quarantine: records ?? FolderQuarantine(path: settings.process.quarantineFolder),
            trackers: selected.map(\.name),
            configuredTrackers: settings.trackers.map(\.name)
        )
        replay.filter = filter
        replay.quarantineFilter = try quarantineFilter()
        replay.rate = rate
        replay.isDryRun = dryRun
        // People who are erased during the replay count as well; it ends with this function.
        async let _: Void? = receipts?.watch()
        let showsProgress = Terminal.isInteractive && !json
        let report = try await replay.run(
            stoppingOn: [.sigterm, .sigint],
            progress: showsProgress ? ReplayProgressLine(totalBytes: replay.byteCount) : nil,
            logger: wiring.logger
        )
        let text = json ? try JSONText.line(of: report.summary) : report.table
        if !dryRun, selected.contains(where: { ($0 as? any PrintingTracker)?.writesToStandardOutput == true }) {
            Terminal.printError(text)
        } else {
            try Terminal.print(text)
        }
        if report.exitCode != 0 { throw ExitCode(report.exitCode) }
    }

    private static let silent = Logger(label: "sluice", factory: { _ in SwiftLogNoOpLogHandler() })

    private var inputs: [ReplayInput] { paths.map(ReplayInput.init) }

    private func filter() throws -> ReplayFilter {
        try ReplayFilter(
            events: event,
            since: Timestamp(option: "--since", since),
            until: Timestamp(option: "--until", until)
        )
    }

    /// The filter, whose names a plan must have unless only quarantined events are read.
    ///
    /// - Throws: `ValidationError` if it does not have one of them.
    private func filter(against catalog: EventCatalog) throws -> ReplayFilter {
        let filter = try filter()
        guard inputs != [.quarantine] else { return filter }
        do throws(SelectionError) {
            try filter.check(against: catalog)
        } catch {
            throw ValidationError(error.message)
        }
        return filter
    }

    /// For quarantined events, the times select by when they were quarantined, and the plan need not know the names.
    private func quarantineFilter() throws -> QuarantineFilter {
        try .options(codes: code, events: event, since: since, until: until)
    }
}
