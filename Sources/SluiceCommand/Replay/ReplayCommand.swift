import ArgumentParser
import EventModel
import EventPipeline
import EventQuarantine
import Foundation
import Logging
import SluiceConsole
import TrackerKit

/// `sluice replay`: sends recorded events through the same check and to the same trackers.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send events from files, standard input or a journal through the check and to their trackers.",
        discussion: """
            Reads NDJSON, plain or gzip, what `sluice quarantine export` printed, and as journal://DIR a journal, which a \
            server may be writing meanwhile. With --since or --until only the part of a journal is read that may hold \
            such events. Events without an id get one that follows from the file's \
            name, the line's number and its bytes, so that replaying a file twice adds nothing twice where ids are looked \
            at; those from standard input get a new one. What is in a journal keeps its ids and times.

            `quarantine` is the configured quarantine: what passes now is sent on, once; what still does not stays there. \
            Of it, --since and --until choose by the time when an event was put there. An event that a tracker refused is \
            sent to that tracker only; with --to, only what needs no other of the configured trackers is sent on.

            At the end comes a report: on standard output, or, where the console tracker prints events there, on standard \
            error.

            Exits with 0 when everything read was accepted and delivered, 2 when events were rejected, 1 when something \
            could not be read or delivered: also when a tracker, or one of its tables or topics, cannot start, and when \
            deliveries make no progress for one to two minutes.
            """
    )

    /// How often the start of a tracker that cannot be reached is tried; the pauses between come to 6 to 13 s.
    private static let maximumStartAttempts = 8
    /// How often deliveries may fail in a row without any progress; the pauses between come to 1 to 2 minutes.
    private static let maximumDeliveryAttempts = 12

    @Argument(
        help: ArgumentHelp(
            "Files; - is standard input, journal://DIR a journal, quarantine the quarantine.",
            valueName: "path"
        ),
        completion: .file()
    )
    var paths: [String] = ["-"]

    @Option(help: ArgumentHelp("Deliver to this tracker only; can be repeated.", valueName: "name"))
    var to: [String] = []

    @Option(help: ArgumentHelp("Send on only this event; can be repeated.", valueName: "name"))
    var event: [String] = []

    @Option(help: ArgumentHelp("Send on only events at or after this time (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Send on only events before this time (RFC 3339).", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Of the quarantine only what has this code; can be repeated.", valueName: "code"))
    var code: [String] = []

    @Option(help: ArgumentHelp("At most so many events a second.", valueName: "number"))
    var rate: Int?

    @Flag(help: "Check only: nothing is delivered, and nothing goes to the quarantine.")
    var dryRun = false

    @Flag(help: "Print the report as one JSON object.")
    var json = false

    @OptionGroup var options: PipelineOptions

    func validate() throws {
        if let rate, rate < 1 { throw ValidationError("--rate takes a number of at least 1.") }
        _ = try filter()
        _ = try quarantineFilter()
        if !code.isEmpty, !paths.contains(QuarantineSource.name) {
            throw ValidationError("--code chooses from the quarantine, which is not among the paths.")
        }
        if paths.contains(where: { JournalSource.folder(ofPath: $0) == "" }) {
            throw ValidationError(
                "journal:// is to be followed by the journal's folder, as in journal:///var/lib/journal."
            )
        }
        if paths.count(where: { $0 == QuarantineSource.name }) > 1 {
            throw ValidationError("The quarantine can be read once only.")
        }
        if paths.count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input can be read once only.") }
    }

    func run() async throws {
        // Like any other command, a replay ends when nobody reads what it prints.
        Terminal.ignoresBrokenPipes(false)
        let filter = try filter()
        var settings = try await Settings.load(options.values, file: options.plan.config)
        settings.pipeline.maximumStartAttempts = settings.strictTrackers ? 1 : Self.maximumStartAttempts
        settings.pipeline.maximumDeliveryAttempts = Self.maximumDeliveryAttempts
        let wiring = try Wiring(settings)
        if !readsOnlyQuarantine { try filter.check(against: wiring.catalog) }
        let trackers = dryRun ? [] : try wiring.trackers(only: to)
        // That nothing is kept is what a dry run is for, and no error to be logged.
        let quarantine = dryRun ? Quarantine.discarding(logger: Self.silent) : try wiring.quarantine()
        let pipeline = try wiring.pipeline(trackers: trackers, quarantine: quarantine, namesAll: !dryRun && to.isEmpty)
        let replay = Replay(
            paths: paths,
            filter: filter,
            rate: rate,
            pipeline: pipeline,
            catalog: wiring.catalog,
            quarantine: QuarantineChoice(folder: settings.quarantineFolder, filter: try quarantineFilter()),
            isDryRun: dryRun,
            rejectedEvents: quarantine,
            trackers: names(dryRun ? try wiring.trackers(only: to) : trackers),
            configuredTrackers: names(try wiring.trackers()),
            logger: wiring.logger
        )
        let report = try await replay.run(showsProgress: Terminal.isInteractive && !json)
        let text = json ? try JSONText.line(of: report.summary) : report.table
        if trackers.contains(where: { $0 is ConsoleTracker }) {
            Terminal.printError(text)
        } else {
            try Terminal.print(text)
        }
        if report.exitCode != 0 { throw ExitCode(report.exitCode) }
    }

    private static let silent = Logger(label: "sluice", factory: { _ in SwiftLogNoOpLogHandler() })

    private func filter() throws -> ReplayFilter {
        try ReplayFilter(
            events: event,
            since: Timestamp(option: "--since", since),
            until: Timestamp(option: "--until", until)
        )
    }

    /// Of the quarantine, times choose when something was put there, and names also what the plan does not have.
    private func quarantineFilter() throws -> QuarantineFilter {
        QuarantineFilter(
            codes: try VerdictCodes.checked(code),
            events: Set(event),
            since: try Timestamp(option: "--since", since),
            until: try Timestamp(option: "--until", until)
        )
    }

    private func names(_ trackers: [any Tracker]) -> Set<String> { Set(trackers.map { $0.name.lowercased() }) }

    private var readsOnlyQuarantine: Bool { paths.allSatisfy { $0 == QuarantineSource.name } }
}
