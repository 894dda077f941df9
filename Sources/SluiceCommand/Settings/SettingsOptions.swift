import ArgumentParser
import Configuration
import Logging
import SluiceConsole

/// The options of every command that runs a pipeline.
struct PipelineOptions: ParsableArguments {
    @OptionGroup var plan: PlanFolder

    @Flag(inversion: .prefixedNo, help: "Print the events that name the console tracker.")
    var console: Bool?

    @Option(help: "How the console prints events.")
    var format: ConsoleConfiguration.Format?

    @Option(help: ArgumentHelp("PostgreSQL, as a libpq URI or keywords.", valueName: "url"))
    var postgres: String?

    @Option(help: ArgumentHelp("The schema of the events' tables."))
    var schema: String?

    @Option(help: ArgumentHelp("Kafka's bootstrap servers.", valueName: "brokers"))
    var kafka: String?

    @Option(help: ArgumentHelp("Kafka's topic; may contain {event}.", valueName: "topic"))
    var kafkaTopic: String?

    @Option(help: ArgumentHelp("One of librdkafka's own properties; can be repeated.", valueName: "name=value"))
    var kafkaProperty: [String] = []

    @Option(help: ArgumentHelp("Where rejected events are kept.", valueName: "dir"), completion: .directory)
    var quarantine: String?

    @Flag(help: "End with 1 when an event names a tracker that is not configured, and at the first start that fails.")
    var strictTrackers = false

    @Option(help: ArgumentHelp("How much is logged.", valueName: "level"))
    var logLevel: Logger.Level?

    /// The options that were given, as settings.
    var values: [SettingKey: ConfigValue] {
        var values: [SettingKey: ConfigValue] = [:]
        func set(_ key: SettingKey, _ text: String?) {
            if let text { values[key] = ConfigValue(.string(text), isSecret: false) }
        }
        set(.eventsDirectory, plan.events)
        set(.consoleFormat, format?.rawValue)
        set(.postgresURL, postgres)
        set(.postgresSchema, schema)
        set(.kafkaBrokers, kafka)
        set(.kafkaTopic, kafkaTopic)
        set(.quarantineFolder, quarantine)
        set(.logLevel, logLevel?.rawValue)
        if let console { values[.consoleEnabled] = ConfigValue(.bool(console), isSecret: false) }
        if strictTrackers { values[.strictTrackers] = ConfigValue(.bool(true), isSecret: false) }
        if !kafkaProperty.isEmpty {
            values[.kafkaProperties] = ConfigValue(.stringArray(kafkaProperty), isSecret: false)
        }
        return values
    }
}
