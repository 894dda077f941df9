import ArgumentParser
import Configuration
import Foundation
import SluicePostgres
import TrackerKit

/// `sluice migrate`: brings a PostgreSQL database up to the tracking plan.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make and extend PostgreSQL's tables for the events of a tracking plan.",
        discussion: """
            Applies Sluice's own migrations that the database has not had, or those of a folder, then makes the tables \
            of the events that name the tracker 'postgres', and adds the columns that they lack. Nothing is ever \
            dropped, and no column's type is changed: where the plan wants another type, it ends with 1 and changes no \
            table. Running it again changes nothing.

            With --plan-only it prints the SQL that it would run on this database, as a script for psql, and runs \
            nothing.

            Exits with 0 when the database is up to the plan, or when the SQL was printed, be there any or not; 1 \
            when something keeps it from that; 64 when it was called wrongly.
            """
    )

    @OptionGroup var plan: PlanFolder

    @Option(help: ArgumentHelp("PostgreSQL, as a libpq URI or keywords; else DATABASE_URL.", valueName: "url"))
    var postgres: String?

    @Option(help: ArgumentHelp("The schema of the events' tables."))
    var schema: String?

    @OptionGroup var history: MigrationChoice

    @Flag(help: "Print the SQL, and run nothing.")
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
                try Self.say(try await migrator.migrate(plan, applying: migrations))
            }
        } catch let error as TrackerError {
            throw Terminal.failure("\(error)")
        }
    }

    /// The database and the plan's folder.
    private func settings() async throws -> (PostgresConfiguration, folder: String) {
        let reader = try await SettingsReader(
            options: values,
            environment: ProcessInfo.processInfo.environment,
            file: plan.config
        )
        guard let connection = reader.string(.postgresURL) else {
            throw ValidationError("Say where PostgreSQL is: with --postgres, DATABASE_URL or postgres.url.")
        }
        var configuration = PostgresConfiguration(connection: connection)
        if let schema = reader.string(.postgresSchema) { configuration.schema = schema }
        let folder = reader.string(.eventsDirectory) ?? Settings.defaultEventsFolder
        try reader.finish()
        return (configuration, folder)
    }

    /// The options that were given, as settings.
    private var values: [SettingKey: ConfigValue] {
        let texts: [(SettingKey, String?)] = [
            (.eventsDirectory, plan.events), (.postgresURL, postgres), (.postgresSchema, schema),
        ]
        var values: [SettingKey: ConfigValue] = [:]
        for (key, text) in texts {
            if let text { values[key] = ConfigValue(.string(text), isSecret: key == .postgresURL) }
        }
        return values
    }

    private static func say(_ report: MigrationReport) throws {
        if report.isEmpty { return try Terminal.print("Nothing to do: the database is up to the plan.") }
        try Terminal.print(
            lines: report.migrations.map { "applied \($0)" } + report.createdTables.map { "created \($0)" }
                + report.extendedTables.map { "extended \($0)" }
        )
    }
}
