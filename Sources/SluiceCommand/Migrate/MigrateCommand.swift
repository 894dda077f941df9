import ArgumentParser
import SluicePostgres
import TrackerKit

/// `sluice migrate`: creates and extends the tables of the tracking plan in PostgreSQL.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create and extend PostgreSQL's tables for the events of a tracking plan.",
        discussion: """
            Applies the migrations that the database does not have yet, Sluice's own or those of a folder. Then creates the \
            tables of the events that name the tracker 'postgres', and adds missing columns. It never drops anything and \
            never changes a column's type: if the plan needs another type, it exits with 1 and changes no table. Running it \
            again changes nothing.

            With --plan-only it prints the SQL that it would run on this database, as a script for psql, and runs \
            nothing.

            Exits with 0 if the database matches the plan or the SQL was printed, even if there was none; 1 if something \
            prevents that; and 64 for wrong usage.
            """
    )

    @OptionGroup var plan: PlanFolder

    @Option(help: .setting(.postgresURL, valueName: "url"))
    var postgres: String?

    @Option(help: .setting(.postgresSchema))
    var schema: String?

    @OptionGroup var history: MigrationChoice

    @Flag(help: "Print the SQL without running it.")
    var planOnly = false

    func run() async throws {
        let (configuration, folder) = try await settings()
        let plan = try PlanFolder.plan(at: folder)
        let migrations = try history.read()
        let migrator = PostgresMigrator(configuration)
        do {
            if planOnly {
                let script = try await migrator.script(for: plan, applying: migrations)
                try Terminal.write(script.text.utf8)
                Terminal.printError("\(script.summary)")
            } else {
                try Self.printReport(try await migrator.migrate(plan, applying: migrations))
            }
        } catch let error as TrackerError {
            throw Terminal.failure("\(error)")
        }
    }

    /// The database and the plan's folder.
    private func settings() async throws -> (PostgresConfiguration, folder: String) {
        var stated = CommandLineSettings()
        stated.set(.eventsDirectory, plan.events)
        stated.set(.postgresURL, postgres)
        stated.set(.postgresSchema, schema)
        let reader = try await SettingsReader(options: stated, file: plan.config.path)
        guard let configuration = reader.postgres() else {
            throw ValidationError("No database is configured; set --postgres, DATABASE_URL or postgres.url.")
        }
        let folder = reader.string(.eventsDirectory) ?? SettingDefaults.eventsFolder
        try reader.finish()
        return (configuration, folder)
    }

    private static func printReport(_ report: MigrationReport) throws {
        if report.isEmpty { return try Terminal.print("Nothing to do: the database matches the plan.") }
        try Terminal.print(
            lines: report.migrations.map { "applied \($0)" } + report.createdTables.map { "created \($0)" }
                + report.extendedTables.map { "extended \($0)" }
        )
    }
}
