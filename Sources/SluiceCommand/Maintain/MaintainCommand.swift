import ArgumentParser
import EventModel
import Logging
import SettingDefinitions
import SluiceExec
import SluicePostgres
import SluiceSettings
import TrackerKit

/// `sluice maintain`: makes the partitions to come, and keeps those that exist in order.
struct MaintainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintain",
        abstract: "Make the partitions of PostgreSQL's tables for the months to come, and maintain those that exist.",
        discussion: """
            For cron or a systemd timer, once a day, as the role that owns the tables. For each table of the plan that is \
            partitioned by time, it completes a detaching that was interrupted, makes the missing partitions from 400 days ago, or \
            --since, to three months ahead, runs VACUUM (FREEZE) once on each month that has ended, and ANALYZE on the table, \
            which autovacuum never does. No load waits for it.

            A run that was interrupted is completed by the next one, and a run waits for another of the same schema. Tables of \
            pg_partman are left to it, and so are tables that are not partitioned; 'sluice migrate --partition' divides them.

            With --retention-months, or the setting, it also removes the partitions whose events are all of earlier months: it \
            detaches each while loads and queries go on, and then drops it.

            With --archive, or the setting, a program archives each of them before, and writes a receipt: the number of rows, a \
            digest of the ids, and the extremes and sums of each column. The partition is dropped only if PostgreSQL computes the \
            same. Otherwise the detached table keeps its rows, and the next run tries again. --archive takes the program and its \
            arguments, up to the next option; use the setting for arguments that begin with a dash.

            Exits with 0 if everything was done; 1 if something was not, or needs an operator; and 64 for wrong usage.
            """
    )

    @OptionGroup var plan: PlanFolder

    @Option(
        help: ArgumentHelp(
            "The tracker whose tables are maintained. Default: postgres, or the only one that has tables.",
            valueName: "name"
        )
    )
    var tracker: String?

    @Option(help: .setting(.postgresURL, valueName: "url"))
    var postgres: String?

    @Option(help: .setting(.postgresURLFile, valueName: "file"), completion: .file())
    var postgresFile: String?

    @Option(help: .setting(.postgresSchema))
    var schema: String?

    @Option(
        help: ArgumentHelp(
            "The first month that needs a partition, such as 2024-01, for a replay of old events.",
            valueName: "month"
        )
    )
    var since: String?

    @Option(help: .setting(.postgresRetentionMonths, valueName: "months"))
    var retentionMonths: Int?

    @Option(parsing: .upToNextOption, help: .setting(.postgresArchiveCommand, valueName: "command"))
    var archive: [String] = []

    @Option(help: .setting(.postgresArchiveFolder, valueName: "folder"), completion: .directory)
    var archiveFolder: String?

    func validate() throws {
        if let since, Self.firstDay(of: since) == nil {
            throw ValidationError("--since is not a month like 2024-01.")
        }
        let isOther = tracker.map { $0.lowercased() != PostgresConfiguration.defaultName } ?? false
        let settings = [postgres, postgresFile, schema, retentionMonths.map(String.init), archive.first, archiveFolder]
        if isOther, settings.contains(where: { $0 != nil }) {
            throw ValidationError(
                """
                --postgres, --postgres-file, --schema, --retention-months, --archive and --archive-folder are settings of the \
                tracker 'postgres', not of another --tracker.
                """
            )
        }
    }

    func run() async throws {
        var stated = CommandLineSettings()
        stated.set(.eventsFolder, plan.events)
        stated.set(.postgresURL, postgres)
        stated.set(.postgresURLFile, postgresFile)
        stated.set(.postgresSchema, schema)
        stated.set(.postgresRetentionMonths, retentionMonths)
        stated.set(.postgresArchiveCommand, archive)
        stated.set(.postgresArchiveFolder, archiveFolder)
        let reader = try SettingsReader(options: stated, file: plan.config.path)
        let trackers = reader.trackers()
        let folder = reader.text(.eventsFolder) ?? ProcessSettings.defaults.eventsFolder
        try reader.finish()
        let maintained = try TableTracker.named(tracker, among: trackers, as: (any MaintainableTracker).self)
        let request = MaintenanceRequest(
            plan: try PlanFolder.plan(at: folder),
            since: since.flatMap(Self.firstDay),
            programs: ExecProgramRunner(logger: Logger(label: "sluice") { TerminalLogHandler(label: $0) })
        )
        do {
            try Self.show(try await maintained.maintain(request))
        } catch let error as TrackerError {
            throw Terminal.failure("\(error)")
        }
    }

    private static func firstDay(of month: String) -> CalendarDate? { CalendarDate(month + "-01") }

    /// Prints what was done, and throws exit status 1 if an operator has to do something.
    static func show(_ report: MaintenanceReport) throws {
        if report.changes.isEmpty, report.problems.isEmpty {
            return try Terminal.print("Nothing to do: the plan has no table that is partitioned by time.")
        }
        try Terminal.print(lines: report.changes.map { TerminalText(escaping: $0) })
        for problem in report.problems { Terminal.printError("error: \(problem)") }
        if !report.problems.isEmpty { throw ExitCode(1) }
    }
}
