import CLibRDKafka
import Logging
import TrackerKit

/// A client that only asks which topics there are.
///
/// It asks for the list of all of them, because to ask for one by its name creates it where brokers do that by
/// themselves; and it is a consumer with `allow.auto.create.topics=false`, which a producer cannot be. It belongs to
/// one thread and must be closed, as the producer.
struct TopicObserver: ~Copyable {
    private let client: KafkaClient
    private let log: KafkaLog

    /// - Throws: What `KafkaClient` does, and `invalidSettings` in librdkafka's words.
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

    /// Looks for topics in the list of all; blocks, and creates none.
    ///
    /// Returns what is wrong with each that accepts no messages, or why nobody answers.
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
            // Whether the brokers answer at all.
            if let reason = try check.run([]).first { return [reason] }
        } catch {
            return [TrackerError(error, brokers: configuration.brokers, log: log.lastError)]
        }
        return names.compactMap { name in
            let code = known[name] ?? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
            return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : TrackerError(KafkaFailure(code), topic: name)
        }
    }

    /// Gives everything back; blocks.
    consuming func close() {
        client.close()
        log.letGo()
    }
}
