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

    /// The schema that the option names, or the settings for the tracker, and how its tables are divided.
    func settings(config: ConfigurationFile) throws -> (schema: String, partitions: TablePartitioning) {
        var stated = CommandLineSettings()
        stated.set(.postgresSchema, schema)
        let reader = try SettingsReader(options: stated, file: config.path)
        let name = reader.namedTrackers.first { $0.name.lowercased() == tracker.lowercased() }?.name ?? tracker
        let section = reader.section(ofTracker: name)
        let configured = section.text(.postgresSchema)
        let partitions: TablePartitioning? = section.choice(.postgresPartitions)
        try reader.finish()
        return (schema ?? configured ?? PostgresConfiguration.defaultSchema, partitions ?? .none)
    }
}
