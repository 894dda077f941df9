import ArgumentParser
import PlanTools
import SluicePostgres

/// `sluice export`: the tracking plan in other people's formats.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the tracking plan as JSON Schema, SQL, Markdown or a page to read.",
        discussion: """
            The same plan gives the same bytes. A file appears whole or not at all: where it cannot be written, the \
            command ends with 1, and what was there stays.
            """,
        subcommands: [
            ExportJSONSchemaCommand.self, ExportSQLCommand.self, ExportMarkdownCommand.self, ExportHTMLCommand.self,
        ]
    )
}

/// `sluice export json-schema`: schemas for whoever sends events.
struct ExportJSONSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json-schema",
        abstract: "Write JSON Schemas (draft 2020-12): one for each event, and one for any event.",
        discussion: """
            Writes DIR/envelope.schema.json and DIR/events/NAME.schema.json; without --output the first of them goes \
            to standard output. They take what POST /v1/events takes, but for what no schema can say: a key that comes \
            twice, the limits of an event's size and depth, and what stands in a '$comment'.
            """
    )

    @OptionGroup var source: PlanFolder

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The folder to write to; it is made.", valueName: "dir"),
        completion: .directory
    )
    var output: String?

    @Option(help: ArgumentHelp("What the '$id's begin with: where the schemas are published.", valueName: "uri"))
    var baseURI: String?

    func validate() throws {
        try ExportOutput.validate(output)
    }

    func run() async throws {
        guard let base = baseURI.map(SchemaBase.init) ?? .default else {
            throw ValidationError("--base-uri takes an absolute URI such as https://example.com/schemas/.")
        }
        let export = JSONSchemaExport(try await source.read(), base: base)
        guard let output else { return try Terminal.write(export.envelope.text.utf8) }
        try ExportOutput.write(export.files, into: output)
    }
}

/// `sluice export sql`: the tables that analysts query.
struct ExportSQLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Write what 'sluice migrate' does to an empty database, without asking one.",
        discussion: """
            A script for psql. The statements are those of 'sluice migrate', which finds nothing to do where it has run.
            """
    )

    @OptionGroup var source: PlanFolder
    @OptionGroup var target: ExportTarget

    @Option(help: ArgumentHelp("The schema of the events' tables."))
    var schema: String?

    @OptionGroup var history: MigrationChoice

    func run() async throws {
        let schema = try await Settings.text(.postgresSchema, stated: schema, file: source.config)
        let script = MigrationScript(
            try await source.read(),
            applying: try history.read(),
            schema: schema ?? PostgresConfiguration.defaultSchema
        )
        try target.write(script.text)
    }
}

/// `sluice export markdown`: the plan for a repository's documentation.
struct ExportMarkdownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "markdown",
        abstract: "Write the plan as a page of GitHub's Markdown, for a repository's documentation."
    )

    @OptionGroup var source: PlanFolder
    @OptionGroup var target: ExportTarget

    func run() async throws {
        try target.write(MarkdownExport(try await source.read()).text)
    }
}

/// `sluice export html`: the plan for everybody in the business.
struct ExportHTMLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "html",
        abstract: "Write the plan as one HTML file to read, search and print; it needs no server and no network.",
        discussion: """
            Link to an event as FILE#item_purchased, its name in snake case, and to a search as \
            FILE#q=basket&owner=checkout&tracker=kafka.
            """
    )

    @OptionGroup var source: PlanFolder
    @OptionGroup var target: ExportTarget

    func run() async throws {
        try target.write(HTMLExport(try await source.read()).text)
    }
}
