package import EventValidation
package import TrackerKit

extension KafkaTracker: TopicTracker {
    package func writes(
        toTopic topic: String,
        at brokers: String,
        for catalog: EventCatalog
    ) throws(TrackerError) -> Bool {
        guard !Self.addresses(configuration.brokers).isDisjoint(with: Self.addresses(brokers)) else { return false }
        return try TopicName(pattern: configuration.topic).topics(of: catalog, tracker: name).contains(topic)
    }

    private static func addresses(_ brokers: String) -> Set<String> {
        Set(brokers.split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() })
    }
}
