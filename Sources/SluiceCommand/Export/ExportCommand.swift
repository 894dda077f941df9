import ArgumentParser
import PlanTools
import SettingDefinitions
import SluiceHTTP
import SluicePostgres
import SluiceSettings

/// `sluice export`: writes the tracking plan in other formats.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the tracking plan as JSON Schema, OpenAPI, SQL, Markdown or an HTML page.",
        discussion: """
            The same plan gives the same bytes. A file is written completely or not at all: if it cannot be written, the \
            command exits with 1, and an existing file stays unchanged.
            """,
        subcommands: [
            ExportJSONSchemaCommand.self, ExportSQLCommand.self, ExportMarkdownCommand.self, ExportHTMLCommand.self,
            ExportOpenAPICommand.self,
        ]
    )
}

/// `sluice export json-schema`: writes schemas for senders.
struct ExportJSONSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json-schema",
        abstract: "Write JSON Schemas (draft 2020-12): one for each event, and one for all events.",
        discussion: """
            Writes DIR/envelope.schema.json and DIR/events/NAME.schema.json. Without --output, it prints the first of them. \
            The schemas accept what POST /v1/events accepts, except for rules that JSON Schema cannot express: duplicate \
            keys, the limits of an event's size and depth, and those described in a '$comment'.
            """
    )

    @OptionGroup var source: PlanFolder

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The folder to write to, created if it does not exist.", valueName: "dir"),
        completion: .directory
    )
    var output: String?

    @Option(
        help: ArgumentHelp("The URI at which the schemas are published, the beginning of each '$id'.", valueName: "uri")
    )
    var baseURI: String?

    func validate() throws {
        try ExportTarget.validate(output)
    }

    func run() async throws {
        guard let base = baseURI.map(SchemaBase.init) ?? .default else {
            throw ValidationError("--base-uri takes an absolute URI such as https://example.com/schemas/.")
        }
        let export = JSONSchemaExport(try await source.read(), base: base)
        guard let output else { return try Terminal.write(export.envelope.text.utf8) }
        try ExportFolder(path: output).write(export.files)
    }
}

/// `sluice export sql`: writes the statements that create the tables.
struct ExportSQLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Write the SQL that 'sluice migrate' runs on an empty database, without connecting to one.",
        discussion: """
            The output is a script for psql with the statements of 'sluice migrate', which then has nothing left to do.
            """
    )

    @OptionGroup var source: PlanFolder
    @OptionGroup var target: ExportTarget

    @Option(
        help: ArgumentHelp("The PostgreSQL tracker whose tables are written.", valueName: "name")
    )
    var tracker = PostgresConfiguration.defaultName

    @Option(help: .setting(.postgresSchema))
    var schema: String?

    @OptionGroup var history: MigrationChoice

    func run() async throws {
        let (schema, partitions) = try settingsOfTracker()
        let script = MigrationScript(
            try await source.read(),
            applying: try history.read(),
            schema: schema,
            tracker: tracker,
            partitions: partitions
        )
        try target.write(script.text)
    }

    /// The schema that the option names, or the settings for the tracker, and how its tables are divided.
    private func settingsOfTracker() throws -> (schema: String, partitions: TablePartitioning) {
        var stated = CommandLineSettings()
        stated.set(.postgresSchema, schema)
        let reader = try SettingsReader(options: stated, file: source.config.path)
        let name = reader.namedTrackers.first { $0.name.lowercased() == tracker.lowercased() }?.name ?? tracker
        let section = reader.section(ofTracker: name)
        let configured = section.text(.postgresSchema)
        let partitions: TablePartitioning? = section.choice(.postgresPartitions)
        try reader.finish()
        return (schema ?? configured ?? PostgresConfiguration.defaultSchema, partitions ?? .none)
    }
}

/// `sluice export markdown`: writes the plan for a repository's documentation.
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

/// `sluice export html`: writes the plan as a page for everyone in the company.
struct ExportHTMLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "html",
        abstract: "Write the plan as one HTML file to read, search and print, without a server or a network.",
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

/// `sluice export openapi`: writes a description of the public port for developers of clients.
struct ExportOpenAPICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract: "Write an OpenAPI 3.1 document of everything that 'sluice serve' answers, with the plan's events.",
        discussion: """
            It describes Sluice's own format, CloudEvents, the endpoints for the clients of Segment, RudderStack and PostHog, \
            the plan and the health checks, with every status and error code. The document is JSON.
            """
    )

    @OptionGroup var source: PlanFolder
    @OptionGroup var target: ExportTarget

    @Option(help: ArgumentHelp("The URL of the server. Default: that of the document.", valueName: "url"))
    var server: String?

    @Flag(help: "Describe a server that accepts events without keys.")
    var open = false

    func validate() throws {
        if let server, !server.hasPrefix("https://"), !server.hasPrefix("http://") {
            throw ValidationError("--server takes a URL such as https://events.example.com.")
        }
    }

    func run() async throws {
        let export = OpenAPIExport(
            try await source.read(),
            limits: OpenAPIExport.Limits(IngestConfiguration()),
            server: server ?? "/",
            isOpen: open
        )
        try target.write(export.text)
    }
}

extension OpenAPIExport.Limits {
    /// The limits of a server with these settings.
    fileprivate init(_ configuration: IngestConfiguration) {
        self.init(
            bodyBytes: configuration.maximumBodyBytes,
            events: configuration.maximumEvents,
            rejections: configuration.maximumRejections,
            explainedRejections: configuration.maximumExplainedRejections,
            answerBytes: configuration.maximumAnswerBytes,
            planBytes: configuration.maximumPlanBytes,
            headerBytes: configuration.maximumHeaderBytes,
            headerFields: configuration.maximumHeaderFields
        )
    }
}
