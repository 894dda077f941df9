import ArgumentParser
import EventSchema
import EventValidation
import SettingDefinitions
import SluicePostgres
import SluiceSettings
import TrackerKit

/// `sluice migrate`: creates and extends the tables of the tracking plan in PostgreSQL.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create and extend PostgreSQL's tables for the events of a tracking plan.",
        discussion: """
            Applies the migrations that the database does not have yet, Sluice's own or those of a folder. Then creates the \
            tables of the events that name the tracker, and adds missing columns. It never drops anything and \
            never changes a column's type: if the plan needs another type, it exits with 1 and changes no table. Running it \
            again changes nothing.

            With --grant-to it also grants the role of 'sluice serve' or 'sluice load' what it needs, so that these need not \
            own the tables. The role must exist.

            With --segment-views it also makes the views tracks, identifies, pages, screens and groups in the schema 'segment', of \
            the events that the plan has, and extends them after a change of the plan.

            With --roles it also makes three roles: SCHEMA_owner, which then owns the tables and runs later migrations, SCHEMA_loader \
            for 'sluice serve' and 'sluice load', and SCHEMA_reader, which may only read and has time limits. The role that runs \
            the command must be allowed to create roles.

            With --partition it instead divides a table, or all, by the months of the events, without copying rows: the table \
            becomes the first partition of a new one with its name. Loads and queries wait well under a second. Grants and views \
            are made again for the new table. If there are triggers, publications, foreign keys or other objects that would \
            follow the old rows alone, it names them and exits with 1, unless --leave names each. If it is interrupted, run it \
            again.

            With --plan-only it prints the SQL that it would run on this database, as a script for psql, and runs \
            nothing.

            Exits with 0 if the database matches the plan or the SQL was printed, even if there was none; 1 if something \
            prevents that; and 64 for wrong usage.
            """
    )

    @OptionGroup var plan: PlanFolder

    @Option(
        help: ArgumentHelp(
            "The tracker whose tables are created. Default: postgres, or the only one that has tables.",
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

    @OptionGroup var history: MigrationChoice

    @Option(
        help: ArgumentHelp(
            "Grant this role what 'sluice serve' and 'sluice load' need, also on tables that are created later.",
            valueName: "role"
        )
    )
    var grantTo: String?

    @Flag(help: "Make views of the tables in the form of Segment's warehouses, in the schema 'segment'.")
    var segmentViews = false

    @Flag(help: "Make roles for the owner, the loader and the readers of the tables, SCHEMA_owner and so on.")
    var roles = false

    @Option(
        help: ArgumentHelp(
            "Divide this table, or 'all', by the months of the events, without copying its rows.",
            valueName: "table"
        )
    )
    var partition: String?

    @Option(
        help: ArgumentHelp(
            "With --partition: let this trigger, or other object, stay with the old rows; can be repeated.",
            valueName: "name"
        )
    )
    var leave: [String] = []

    @Flag(help: "Print the SQL without running it.")
    var planOnly = false

    func validate() throws {
        if grantTo?.isEmpty == true { throw ValidationError("--grant-to is empty.") }
        if partition?.isEmpty == true { throw ValidationError("--partition is empty.") }
        if partition == nil, !leave.isEmpty { throw ValidationError("--leave needs --partition.") }
        if partition != nil, planOnly || grantTo != nil || history.migrations != nil || segmentViews || roles {
            throw ValidationError(
                "--partition excludes --plan-only, --grant-to, --migrations, --segment-views and --roles."
            )
        }
        let isOther = tracker.map { $0.lowercased() != PostgresConfiguration.defaultName } ?? false
        if isOther, (postgres ?? postgresFile ?? schema) != nil {
            throw ValidationError(
                "--postgres, --postgres-file and --schema are settings of the tracker 'postgres', not of another --tracker."
            )
        }
    }

    func run() async throws {
        let (tracker, folder) = try settings()
        let plan = try PlanFolder.plan(at: folder)
        Self.warnOfMisspelling(of: tracker.name, in: plan)
        let request = MigrationRequest(
            plan: plan,
            migrations: history.migrations,
            role: grantTo,
            makesSegmentViews: segmentViews,
            makesRoles: roles
        )
        do {
            if let partition {
                try await divide(partition, of: plan, by: tracker)
            } else if planOnly {
                let statements = try await tracker.migrationStatements(request)
                try Terminal.write(statements.text.utf8)
                Terminal.printError("\(statements.summary)")
            } else {
                try Self.printChanges(try await tracker.migrate(request))
            }
        } catch let error as TrackerError {
            throw Terminal.failure("\(error)")
        }
    }

    private func divide(_ table: String, of plan: TrackingPlan, by tracker: any MigratableTracker) async throws {
        guard let tracker = tracker as? any MaintainableTracker else {
            throw ValidationError("The tables of the tracker '\(tracker.name)' cannot be partitioned.")
        }
        let request = PartitioningRequest(
            plan: plan,
            tables: table == "all" ? nil : [table],
            leaving: Set(leave)
        )
        try MaintainCommand.show(try await tracker.partition(request))
    }

    /// The tracker and the plan's folder.
    private func settings() throws -> (any MigratableTracker, folder: String) {
        var stated = CommandLineSettings()
        stated.set(.eventsFolder, plan.events)
        stated.set(.postgresURL, postgres)
        stated.set(.postgresURLFile, postgresFile)
        stated.set(.postgresSchema, schema)
        let reader = try SettingsReader(options: stated, file: plan.config.path)
        let trackers = reader.trackers()
        let folder = reader.text(.eventsFolder) ?? ProcessSettings.defaults.eventsFolder
        try reader.finish()
        return (try TableTracker.named(tracker, among: trackers, as: (any MigratableTracker).self), folder)
    }

    /// Warns if no event names the tracker, and of names that are probably meant to be the tracker's.
    private static func warnOfMisspelling(of tracker: String, in plan: TrackingPlan) {
        let catalog = EventCatalog(plan: plan)
        let match = TrackerMatch(of: catalog, configured: [tracker])
        if !match.unused.isEmpty {
            Terminal.printError("warning: \(match.description(ofUnused: tracker)) There are no tables to create.")
        }
        // Names that are not close are other trackers, which may be configured elsewhere.
        for missing in match.unconfigured where match.suggestion(for: missing) != nil && match.unused.isEmpty {
            Terminal.printError("warning: \(match.description(of: missing))")
        }
    }

    private static func printChanges(_ changes: [String]) throws {
        if changes.isEmpty { return try Terminal.print("Nothing to do: the database matches the plan.") }
        try Terminal.print(lines: changes.map { TerminalText(escaping: $0) })
    }
}
