import EventSchema
import EventValidation
import TrackerKit

/// The topics of a catalog's events, as handles of one producer.
final class EventRoutes {
    private let producer: KafkaProducer
    let names: TopicName
    private var catalog: EventCatalog?
    private var topics: [ProducerTopic?] = []

    init(_ producer: KafkaProducer, topic: String) {
        self.producer = producer
        names = TopicName(pattern: topic)
    }

    /// Whether the routes belong to this catalog.
    func know(_ catalog: EventCatalog) -> Bool { catalog === self.catalog }

    /// Switches to another catalog; no message may be in flight.
    func learn(_ catalog: EventCatalog) {
        self.catalog = catalog
        topics = Array(repeating: nil, count: catalog.definitions.count)
        producer.setCatalog(catalog)
    }

    /// The topic of an event; its handle is created on first use.
    @inline(__always)
    func topic(of definition: Int) throws(KafkaFailure) -> ProducerTopic {
        if let topic = topics[definition] { return topic }
        return try makeTopic(of: definition)
    }

    private func makeTopic(of definition: Int) throws(KafkaFailure) -> ProducerTopic {
        do {
            let name = try names.topic(forEvent: catalog?.definitions[definition].name ?? "")
            let topic = try producer.topic(named: name)
            topics[definition] = topic
            return topic
        } catch let error as TrackerError {
            throw KafkaFailure(.invalidTopic, error.message)
        } catch let error as KafkaFailure {
            throw error
        } catch {
            throw KafkaFailure(.invalidTopic)
        }
    }
}
