import EventSchema
import EventValidation
import TrackerKit

/// Which topic each event of a catalog goes to, as one producer knows it.
final class EventRoutes {
    private let producer: KafkaProducer
    let names: TopicName
    private var catalog: EventCatalog?
    private var topics: [ProducerTopic?] = []

    init(_ producer: KafkaProducer, topic: String) {
        self.producer = producer
        names = TopicName(pattern: topic)
    }

    /// Whether the routes are those of this catalog.
    func know(_ catalog: EventCatalog) -> Bool { catalog === self.catalog }

    /// Takes another catalog; no message may be outstanding.
    func learn(_ catalog: EventCatalog) {
        self.catalog = catalog
        topics = Array(repeating: nil, count: catalog.definitions.count)
        producer.setTypes(catalog.definitions.map(\.name))
    }

    /// The topic of an event; made known to librdkafka when it is first asked for.
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
