public import Logging
public import TrackerKit

extension Tracker where Self == KafkaTracker {
    /// A tracker that writes a message an event.
    ///
    /// - Parameters:
    ///   - brokers: The bootstrap servers, as `host:port,host:port`.
    ///   - name: The name by which the plan's events name it. Default: `kafka`.
    ///   - topic: The topic; `{event}` in it stands for the event's name.
    ///   - logger: Where the tracker's log goes.
    public static func kafka(
        _ brokers: String,
        name: String = KafkaConfiguration.defaultName,
        topic: String = KafkaConfiguration.defaultTopic,
        logger: Logger = Logger(label: "sluice")
    ) -> KafkaTracker {
        KafkaTracker(KafkaConfiguration(brokers: brokers, name: name, topic: topic), logger: logger)
    }
}
