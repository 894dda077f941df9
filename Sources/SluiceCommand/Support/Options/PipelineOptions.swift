import ArgumentParser
import Logging
import SettingDefinitions
import SluiceConsole
import SluiceKafka
import SluicePostgres
import SluiceSettings

/// The options of every command that runs a pipeline, besides those of the plan and the trackers.
struct PipelineOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting(.relayURL, valueName: "url"))
    var relay: String?

    @Flag(
        help: """
            Exit with 1 if an event names a tracker that is not configured, or if a tracker, or one of its tables or \
            topics, fails its first start.
            """
    )
    var strictTrackers = false

    func add(to settings: inout CommandLineSettings) {
        settings.set(.relayURL, relay)
        settings.set(.strictTrackers, strictTrackers ? true : nil)
    }
}

/// The options of every command that delivers events to trackers, besides those of the plan.
struct TrackerOptions: ParsableArguments, SettingOptions {
    @Flag(inversion: .prefixedNo, help: .setting(.consoleEnabled))
    var console: Bool?

    @Option(help: .setting(.consoleFormat, "How the console prints events."))
    var format: ConsoleConfiguration.Format?

    @Option(help: .setting(.postgresURL, valueName: "url"))
    var postgres: String?

    @Option(help: .setting(.postgresURLFile, valueName: "file"), completion: .file())
    var postgresFile: String?

    @Option(help: .setting(.postgresSchema))
    var schema: String?

    @Option(help: .setting(.kafkaBrokers, valueName: "brokers"))
    var kafka: String?

    @Option(help: .setting(.kafkaTopic, valueName: "topic"))
    var kafkaTopic: String?

    @Option(help: ArgumentHelp("A librdkafka property; can be repeated.", valueName: "name=value"))
    var kafkaProperty: [String] = []

    @Option(help: .setting(.kafkaPropertiesFile, valueName: "file"), completion: .file())
    var kafkaPropertiesFile: String?

    @Option(help: .setting(.quarantineFolder, valueName: "dir"), completion: .directory)
    var quarantine: String?

    @Option(help: .setting(.logLevel, "The lowest level that is logged.", valueName: "level"))
    var logLevel: Logger.Level?

    @Option(help: .setting(.logFormat, valueName: "format"))
    var logFormat: String?

    func add(to settings: inout CommandLineSettings) {
        settings.set(.consoleEnabled, console)
        settings.set(.consoleFormat, format?.rawValue)
        settings.set(.postgresURL, postgres)
        settings.set(.postgresURLFile, postgresFile)
        settings.set(.postgresSchema, schema)
        settings.set(.kafkaBrokers, kafka)
        settings.set(.kafkaTopic, kafkaTopic)
        settings.set(.kafkaProperties, kafkaProperty)
        settings.set(.kafkaPropertiesFile, kafkaPropertiesFile)
        settings.set(.quarantineFolder, quarantine)
        settings.set(.logLevel, logLevel?.rawValue)
        settings.set(.logFormat, logFormat)
    }
}
