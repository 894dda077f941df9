import ArgumentParser
import SettingDefinitions
import SluicePostgres
import SluiceSettings

/// The tables that an export is about.
struct ExportedTables: ParsableArguments {
    @Option(
        help: ArgumentHelp("The PostgreSQL tracker whose tables are written.", valueName: "name")
    )
    var tracker = PostgresConfiguration.defaultName

    @Option(help: .setting(.postgresSchema))
    var schema: String?

    /// The schema that the option names, or the settings for the tracker.
    func schema(config: ConfigurationFile) throws -> String {
        var stated = CommandLineSettings()
        stated.set(.postgresSchema, schema)
        let reader = try SettingsReader(options: stated, file: config.path)
        let name = reader.namedTrackers.first { $0.name.lowercased() == tracker.lowercased() }?.name ?? tracker
        let configured = reader.section(ofTracker: name).text(.postgresSchema)
        try reader.finish()
        return schema ?? configured ?? PostgresConfiguration.defaultSchema
    }
}
