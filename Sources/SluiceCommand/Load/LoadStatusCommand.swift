import ArgumentParser
import EventModel
import Loader
import Logging
import Operations
import SluiceSettings
import TrackerKit

/// `sluice load status`: shows how far a loader is.
struct LoadStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show for each tracker and partition who loads it, how far it is, and how many records wait.",
        discussion: """
            Asks the trackers for the positions that they have stored, and Kafka for the offsets; the loader's processes need not run. \
            LAG is the number of records that are not loaded, and AGE the time since the oldest of them was written.

            Exits with 1 if a tracker or Kafka does not answer, or if a partition's next offset is not among those that Kafka has. \
            Other reasons why a partition is halted are in the log, and in /readyz of the loader's private port.
            """
    )

    @OptionGroup var options: LoadOptions
    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() async throws {
        let stated = CommandLineSettings(options, plan, trackers)
        let settings = try Settings.load(stated, file: plan.config.path, usesRelay: false)
        let configuration = try LoadOptions.configuration(settings)
        let wiring = Wiring(
            settings,
            plan: try PlanFolder.plan(at: settings.process.eventsFolder),
            minimumLogLevel: .error
        )
        let trackers = try options.trackers(wiring)
        let survey: LoadSurvey
        do {
            survey = try LoadSurvey(configuration, logger: wiring.logger)
        } catch {
            throw Terminal.failure("\(error)")
        }
        let status = await survey.status(of: trackers)
        for tracker in trackers { await tracker.stop() }
        if json {
            try Terminal.print(JSONText.line(of: status))
        } else {
            try Terminal.print(lines: Self.table(of: status))
        }
        if !status.problems.isEmpty { throw ExitCode(1) }
    }

    private static func table(of status: LoaderStatus) -> [TerminalText] {
        var table = TextTable(
            header: ["TRACKER", "PARTITION", "NEXT", "LAG", "AGE", "REFUSED", "EPOCH", "OWNER"],
            numbers: [1, 2, 3, 4, 5, 6]
        )
        for tracker in status.trackers {
            for partition in tracker.partitions {
                table.add([
                    TerminalText(escaping: tracker.tracker), "\(partition.partition)", number(partition.next),
                    number(partition.lag), partition.lagSeconds.map { "\(StatusText.duration($0))" } ?? "-",
                    number(partition.refused), number(partition.epoch), TerminalText(escaping: partition.owner ?? "-"),
                ])
            }
        }
        return table.lines + status.problems.map { TerminalText(escaping: $0) }
    }

    private static func number(_ value: (some BinaryInteger)?) -> TerminalText { value.map { "\($0)" } ?? "-" }
}
