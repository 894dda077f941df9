import CLibRDKafka
import Logging
import TrackerKit

/// A client that only asks which topics exist, and creates none.
///
/// It requests the list of all topics, because a request for one topic creates it if the brokers create topics
/// automatically. It is a consumer, because only a consumer can set `allow.auto.create.topics=false`. Like the producer,
/// it belongs to one thread and must be closed.
struct TopicObserver: ~Copyable {
    private let client: KafkaClient
    private let log: KafkaLog

    /// - Throws: What `KafkaClient` throws, and `invalidSettings` with librdkafka's message.
    init(_ configuration: KafkaConfiguration, logger: Logger) throws(TrackerError) {
        let properties = try ProducerSettings(configuration).makeObserverConfiguration(configuration)
        let log = KafkaLog(logger: logger)
        log.listen(to: properties)
        do throws(TrackerError) {
            client = try KafkaClient(RD_KAFKA_CONSUMER, properties)
        } catch {
            log.letGo()
            throw error
        }
        self.log = log
    }

    /// Looks up topics in the list of all; blocks, and creates none.
    ///
    /// Returns an error for each topic that accepts no messages, or one that says why no broker answers.
    func problems(of names: [String], _ configuration: KafkaConfiguration, _ interrupt: Interrupt) -> [TrackerError] {
        let client = client
        var known: [String: rd_kafka_resp_err_t] = [:]
        let check = TopicCheck(
            interrupt,
            timeout: configuration.startTimeout,
            waitsForCreation: false,
            pause: { rd_kafka_poll(client.handle, 100) },
            ask: { _, milliseconds throws(KafkaFailure) in known = try client.listTopics(within: milliseconds) }
        )
        do throws(KafkaFailure) {
            // Check first that any broker answers.
            if let reason = try check.run([]).first { return [reason] }
        } catch {
            return [TrackerError(error, brokers: configuration.brokers, log: log.lastError)]
        }
        let requirement = configuration.topicRequirement
        return names.compactMap { name in
            let code = known[name] ?? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return TrackerError(KafkaFailure(code), topic: name) }
            guard requirement != .none else { return nil }
            let guarantees = client.guarantees(of: name, timeout: configuration.startTimeout, interrupt)
            return guarantees.problem(with: name, for: requirement)
        }
    }

    /// Asks for the settings of topics; blocks, and creates none.
    ///
    /// - Throws: If no broker answers.
    func guarantees(
        of names: [String],
        _ configuration: KafkaConfiguration,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> [(name: String, guarantees: TopicGuarantees)] {
        // Asking for a topic that does not exist could create it.
        let missing = problems(of: names, configuration, interrupt)
        guard missing.isEmpty else { throw missing[0] }
        return names.map { ($0, client.guarantees(of: $0, timeout: configuration.startTimeout, interrupt)) }
    }

    /// Frees all resources; blocks.
    consuming func close() {
        client.close()
        log.letGo()
    }
}
