package import EventValidation
package import TrackerKit

extension KafkaTracker: RetainingTracker {
    package func retentions(for catalog: EventCatalog) async throws(TrackerError) -> [PlaceRetention] {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.retentions(for: catalog, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        return try result.get()
    }
}

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
