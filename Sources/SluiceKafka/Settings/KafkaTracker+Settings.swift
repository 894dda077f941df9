package import SettingDefinitions
package import TrackerKit

extension KafkaConfiguration: Configurable {
    package static var defaults: KafkaConfiguration { KafkaConfiguration(brokers: "") }
}

extension SettingKey {
    private static let scope = Scope.tracker(type: KafkaTracker.type)

    package static let kafkaBrokers = KafkaSettings.brokers.key
    package static let kafkaTopic = KafkaSettings.topic.key
    package static let kafkaProperties = SettingKey(
        "kafka.properties",
        .list,
        "librdkafka properties, each as name=value; in the environment variable, separate them with semicolons.",
        default: .none,
        option: "--kafka-property",
        secrecy: .partlySecret(KafkaProperty.redacted),
        scope: scope
    )
    package static let kafkaPropertiesFile = SettingKey(
        "kafka.propertiesFile",
        .text,
        """
        The file with further librdkafka properties, one name=value in each line, for those that are secret, such as \
        sasl.password and ssl.key.password.
        """,
        default: .none,
        option: "--kafka-properties-file",
        scope: scope
    )
    package static let kafkaDeliveryTimeout = SettingKey(
        duration: "kafka.timeouts.deliverySeconds",
        "How long librdkafka retries a message, in seconds, before the pipeline does; its message.timeout.ms.",
        default: .milliseconds(Int(KafkaConfiguration.defaultProperties["message.timeout.ms"] ?? "") ?? 0),
        within: 1...86_400,
        scope: scope
    )
}

/// The settings of a Kafka tracker.
private enum KafkaSettings {
    private static let scope = SettingKey.Scope.tracker(type: KafkaTracker.type)

    static let brokers = Setting<KafkaConfiguration>.text(
        "kafka.brokers",
        \.brokers,
        option: "--kafka",
        variable: "KAFKA_BROKERS",
        scope: scope,
        "Kafka's bootstrap servers, as host:port,host:port."
    )
    static let topic = Setting<KafkaConfiguration>.text(
        "kafka.topic",
        \.topic,
        option: "--kafka-topic",
        scope: scope,
        "The Kafka topic; `{event}` in it stands for the event's name in snake case."
    )

    static let all: [Setting<KafkaConfiguration>] = [
        brokers,
        topic,
        .text("kafka.source", \.source, scope: scope, "The value of the CloudEvents header ce_source."),
        // These three are read together, because each of them can state librdkafka's properties.
        Setting(.kafkaProperties),
        Setting(.kafkaPropertiesFile),
        Setting(.kafkaDeliveryTimeout),
        .duration(
            "kafka.timeouts.metadataSeconds",
            \.startTimeout,
            within: 1...86_400,
            scope: scope,
            "How long the brokers may take to answer for the topics when the tracker starts, in seconds."
        ),
    ]
}

extension KafkaTracker: ConfigurableTracker {
    package static let type = KafkaConfiguration.defaultName
    package static let settings = KafkaSettings.all
    package static let requiresOneOf: [SettingKey] = [.kafkaBrokers]
    package static let example = (name: "audit", values: [SettingKey.kafkaBrokers: "kafka.example:9092"])

    package static func configuration(named name: String, from values: any SettingValues) -> KafkaConfiguration? {
        let kafka = KafkaConfiguration.reading(settings, from: values)
        guard !kafka.brokers.isEmpty else {
            // Read all the same, so that problems are found also if another source will state the brokers.
            _ = values.duration(.kafkaDeliveryTimeout)
            return nil
        }
        return completed(kafka, named: name, from: values)
    }

    /// Reads the configuration of a tracker at these brokers, and notes what is wrong with it.
    package static func configuration(
        named name: String,
        at brokers: String,
        from values: any SettingValues
    ) -> KafkaConfiguration {
        var kafka = KafkaConfiguration.reading(settings, from: values)
        kafka.brokers = brokers
        return completed(kafka, named: name, from: values)
    }

    /// Adds the tracker's name and librdkafka's properties.
    private static func completed(
        _ configuration: KafkaConfiguration,
        named name: String,
        from values: any SettingValues
    ) -> KafkaConfiguration {
        var kafka = configuration
        kafka.name = name
        let timeout = values.duration(.kafkaDeliveryTimeout)
        let properties = StatedProperties(in: values, deliveryTimeout: timeout)
        kafka.properties = properties.values
        if let file = values.text(.kafkaPropertiesFile) {
            let ignored = properties.names(statedBeside: .kafkaPropertiesFile)
            kafka.readChangingProperties = {
                try KafkaPropertiesFile(path: file).values.filter { !ignored.contains($0.key) }
            }
        }
        return kafka
    }

    package static func tracker(_ configuration: KafkaConfiguration, in context: TrackerContext) -> any Tracker {
        var configuration = configuration
        configuration.requiresEveryTopic = context.requiresEveryDestination
        configuration.sendsTraceparent = context.recordsTraceparent
        return KafkaTracker(configuration, logger: context.logger)
    }
}
