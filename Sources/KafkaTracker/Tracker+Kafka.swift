public import EventPipeline
public import Logging

extension Tracker where Self == KafkaTracker {
    /// A tracker that writes a message an event.
    ///
    /// - Parameters:
    ///   - brokers: The bootstrap servers, as `host:port,host:port`.
    ///   - topic: The topic; `{event}` in it stands for the event's name.
    ///   - logger: Where the tracker's log goes.
    public static func kafka(
        _ brokers: String,
        topic: String = KafkaConfiguration.defaultTopic,
        logger: Logger = Logger(label: "sluice")
    ) -> KafkaTracker {
        KafkaTracker(KafkaConfiguration(brokers: brokers, topic: topic), logger: logger)
    }
}
