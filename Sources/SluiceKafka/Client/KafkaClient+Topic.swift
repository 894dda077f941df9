import CLibRDKafka
import TrackerKit

extension KafkaClient {
    /// Asks the brokers what a topic's settings promise; blocks.
    ///
    /// What the brokers do not say, for example because the user may not read settings, stays unknown.
    func guarantees(of topic: String, timeout: Duration, _ interrupt: Interrupt) -> TopicGuarantees {
        let milliseconds = Int32(min(max(1, timeout / .milliseconds(1)), 60_000))
        var guarantees = TopicGuarantees()
        // The brokers have just answered for the topic.
        let partitions = partitions(of: topic, within: min(milliseconds, 1000))
        guarantees.replicas = partitions?.replicas
        let broker = partitions?.leader
        readSettings(of: topic, from: broker, within: milliseconds, interrupt) { guarantees.set($0, $1) }
        return guarantees
    }

    /// The smallest number of replicas of a topic's partitions, and a broker that leads one of them.
    private func partitions(of topic: String, within milliseconds: Int32) -> (replicas: Int?, leader: Int32?)? {
        guard let handle = rd_kafka_topic_new(self.handle, topic, nil) else { return nil }
        defer { rd_kafka_topic_destroy(handle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        guard
            rd_kafka_metadata(self.handle, 0, handle, &metadata, milliseconds) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let metadata
        else { return nil }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard metadata.pointee.topic_cnt > 0, let found = metadata.pointee.topics, found.pointee.partition_cnt > 0
        else { return nil }
        let partitions = UnsafeBufferPointer(start: found.pointee.partitions, count: Int(found.pointee.partition_cnt))
        return (partitions.map { Int($0.replica_cnt) }.min(), partitions.map(\.leader).first { $0 >= 0 })
    }

    /// Calls `body` with the name and the value of each of a topic's settings.
    private func readSettings(
        of topic: String,
        from broker: Int32?,
        within milliseconds: Int32,
        _ interrupt: Interrupt,
        _ body: (String, String) -> Void
    ) {
        guard let resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic) else { return }
        defer { rd_kafka_ConfigResource_destroy(resource) }
        guard let options = rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS) else { return }
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)
        // Every broker knows the settings of topics, so there is no need to wait for the controller.
        if let broker { rd_kafka_AdminOptions_set_broker(options, broker, nil, 0) }
        guard let answers = rd_kafka_queue_new(handle) else { return }
        defer { rd_kafka_queue_destroy(answers) }
        var resources: [OpaquePointer?] = [resource]
        rd_kafka_DescribeConfigs(handle, &resources, resources.count, options, answers)
        // The request ends with an answer, if only that nobody answered.
        var answer: OpaquePointer?
        while answer == nil, !interrupt.isRaised { answer = rd_kafka_queue_poll(answers, 100) }
        guard let event = answer else { return }
        defer { rd_kafka_event_destroy(event) }
        guard let result = rd_kafka_event_DescribeConfigs_result(event) else { return }
        var count = 0
        guard let described = rd_kafka_DescribeConfigs_result_resources(result, &count), count > 0,
            let first = described[0]
        else { return }
        var entryCount = 0
        guard let entries = rd_kafka_ConfigResource_configs(first, &entryCount) else { return }
        for entry in UnsafeBufferPointer(start: entries, count: entryCount) {
            guard let entry, let name = rd_kafka_ConfigEntry_name(entry), let value = rd_kafka_ConfigEntry_value(entry)
            else { continue }
            body(String(cString: name), String(cString: value))
        }
    }
}
