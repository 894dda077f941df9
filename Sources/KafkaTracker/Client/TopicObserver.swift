import CLibRDKafka
import EventPipeline
import Logging

extension OpaquePointer {
    /// Asks the brokers of this client for a topic, or without one whether they answer; blocks.
    func askForTopic(_ topic: OpaquePointer?, within milliseconds: Int32) throws(KafkaFailure) {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(self, 0, topic, &metadata, milliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaFailure(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard topic != nil else { return }
        guard metadata.pointee.topic_cnt > 0, let found = metadata.pointee.topics else {
            throw KafkaFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        }
        guard found.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaFailure(found.pointee.err) }
    }
}

extension OpaquePointer {
    /// Asks the brokers of this client for all topics, and what is wrong with each; blocks.
    fileprivate func listTopics(within milliseconds: Int32) throws(KafkaFailure) -> [String: rd_kafka_resp_err_t] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(self, 1, nil, &metadata, milliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaFailure(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard let topics = metadata.pointee.topics else { return [:] }
        var found: [String: rd_kafka_resp_err_t] = [:]
        for topic in UnsafeBufferPointer(start: topics, count: Int(metadata.pointee.topic_cnt)) {
            if let name = topic.topic { found[String(cString: name)] = topic.err }
        }
        return found
    }
}

/// A client that only asks which topics there are.
///
/// It asks for the list of all of them, because to ask for one by its name creates it where brokers do that by themselves;
/// and it is a consumer with `allow.auto.create.topics=false`, which a producer cannot be. It belongs to one thread and
/// must be closed, as the producer.
struct TopicObserver: ~Copyable {
    private let handle: OpaquePointer
    private let log: KafkaLog

    /// - Throws: `invalidSettings` in librdkafka's words.
    init(_ configuration: KafkaConfiguration, logger: Logger) throws(TrackerError) {
        let properties = try ProducerSettings(configuration).makeObserverConfiguration(configuration)
        let log = KafkaLog(logger: logger)
        log.listen(to: properties)
        let client: OpaquePointer
        do throws(TrackerError) {
            client = try ProducerSettings.makeClient(RD_KAFKA_CONSUMER, properties)
        } catch {
            log.letGo()
            throw error
        }
        handle = client
        self.log = log
    }

    /// Looks for topics in the list of all; blocks, and creates none.
    ///
    /// Returns what is wrong with each that takes no messages, or why nobody answers.
    func problems(of names: [String], _ configuration: KafkaConfiguration, _ interrupt: Interrupt) -> [TrackerError] {
        let handle = handle
        var known: [String: rd_kafka_resp_err_t] = [:]
        let check = TopicCheck(
            interrupt,
            timeout: configuration.startTimeout,
            waitsForCreation: false,
            pause: { rd_kafka_poll(handle, 100) },
            ask: { _, milliseconds throws(KafkaFailure) in known = try handle.listTopics(within: milliseconds) }
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
        rd_kafka_destroy(handle)
        log.letGo()
    }
}
