import ArgumentParser
import Configuration
import EventPipeline
import EventSchema
import Foundation
import PostgresTracker

/// `sluice migrate`: brings a PostgreSQL database up to the tracking plan.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make and extend PostgreSQL's tables for the events of a tracking plan.",
        discussion: """
            Applies the migrations that the database has not had, then makes the tables of the events that name the tracker \
            'postgres', and adds the columns that they lack. Nothing is ever dropped, and no column's type is changed: where \
            the plan wants another type, it ends with 1 and changes no table. Running it again changes nothing.

            With --plan-only it prints the SQL that it would run on this database, as a script for psql, and runs \
            nothing.

            Exits with 0 when the database is up to the plan, or when the SQL was printed, be there any or not; 1 \
            when something keeps it from that; 64 when it was called wrongly.
            """
    )

    @Option(help: ArgumentHelp("The folder of the tracking plan.", valueName: "dir"), completion: .directory)
    var events: String?

    @Option(help: ArgumentHelp("PostgreSQL, as a libpq URI or keywords; else DATABASE_URL.", valueName: "url"))
    var postgres: String?

    @Option(help: ArgumentHelp("The schema of the events' tables."))
    var schema: String?

    @Option(help: ArgumentHelp("The folder of the migrations.", valueName: "dir"), completion: .directory)
    var migrations = "migrations"

    @Option(
        help: ArgumentHelp("A configuration file (JSON); `sluice settings` lists what can stand in it."),
        completion: .file()
    )
    var config: String?

    @Flag(help: "Print the SQL, and run nothing.")
    var planOnly = false

    func run() async throws {
        let reader = try await SettingsReader(
            options: values,
            environment: ProcessInfo.processInfo.environment,
            file: config
        )
        guard let connection = reader.string(.postgresURL) else {
            throw ValidationError("Say where PostgreSQL is: with --postgres, DATABASE_URL or postgres.url.")
        }
        var configuration = PostgresConfiguration(connection: connection)
        if let schema = reader.string(.postgresSchema) { configuration.schema = schema }
        let directory = reader.string(.eventsDirectory) ?? "events"
        try reader.finish()

        let reading = PlanReader().read(paths: [directory])
        for diagnostic in reading.diagnostics { Terminal.printError("\(diagnostic)") }
        guard let plan = reading.plan else { throw ExitCode(1) }
        do {
            let history = try Migration.read(folder: migrations)
            let migrator = PostgresMigrator(configuration)
            if planOnly {
                let script = try await migrator.script(for: plan, applying: history)
                print(script.text, terminator: "")
                Terminal.printError(script.summary)
            } else {
                Self.say(try await migrator.migrate(plan, applying: history))
            }
        } catch {
            Terminal.printError("error: \(error)")
            throw ExitCode(1)
        }
    }

    /// The options that were given, as settings.
    private var values: [SettingKey: ConfigValue] {
        let texts: [(SettingKey, String?)] = [
            (.eventsDirectory, events), (.postgresURL, postgres), (.postgresSchema, schema),
        ]
        var values: [SettingKey: ConfigValue] = [:]
        for (key, text) in texts {
            if let text { values[key] = ConfigValue(.string(text), isSecret: key == .postgresURL) }
        }
        return values
    }

    private static func say(_ report: MigrationReport) {
        for name in report.migrations { print("applied \(name)") }
        for table in report.createdTables { print("created \(table)") }
        for table in report.extendedTables { print("extended \(table)") }
        if report.isEmpty { print("Nothing to do: the database is up to the plan.") }
    }
}
