import ArgumentParser
import PlanTools
import SluicePostgres

/// `sluice export dbt`: writes a project of dbt for the tables of the plan.
struct ExportDBTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dbt",
        abstract: "Write a dbt project for the tables in PostgreSQL: sources, tests, and models of common questions.",
        discussion: """
            Writes a project for dbt-core 1.11 and dbt-postgres 1.11 to the folder. Its source has the descriptions of the plan, \
            and tests of required properties, allowed values, limits and lengths. Its models are the users of anonymous \
            ids, sessions, active users, retention, and with --funnel a funnel.

            Run 'dbt build' in the folder, with the database in PGHOST, PGUSER, PGPASSWORD and PGDATABASE; or use the folder as \
            a local package of your own project. The variables are in the folder's dbt_project.yml. After a change of the plan, \
            export it again, which replaces the files.
            """
    )

    @OptionGroup var source: PlanFolder
    @OptionGroup var tables: ExportedTables

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The folder to write to, created if it does not exist.", valueName: "dir"),
        completion: .directory
    )
    var output: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The names of the funnel's events, in the order of its steps.", valueName: "event")
    )
    var funnel: [String] = []

    func validate() throws {
        try ExportTarget.validate(output)
        if funnel.count == 1 { throw ValidationError("--funnel takes the names of at least two events.") }
    }

    func run() async throws {
        let schema = try tables.settings(config: source.config).schema
        let plan = try await source.read()
        let export: DBTExport
        do throws(DBTExport.UnknownEvent) {
            export = try DBTExport(
                plan,
                tracker: tables.tracker,
                schema: schema,
                ownColumns: EventTable.ownColumns.map { DBTExport.Column(name: $0.name, description: $0.comment) },
                funnel: funnel
            )
        } catch {
            throw ValidationError("\(error)")
        }
        guard !export.isEmpty else {
            throw Terminal.failure(
                "No event of the plan names the tracker '\(tables.tracker)', so there are no tables."
            )
        }
        try ExportFolder(path: output).write(export.files)
    }
}
