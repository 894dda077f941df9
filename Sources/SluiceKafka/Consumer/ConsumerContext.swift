import CLibRDKafka

/// What librdkafka's callbacks need: the log, from any thread, and the rebalances, which arrive while the consumer is polled.
final class ConsumerContext {
    let log: KafkaLog
    private var rebalances: [KafkaConsumer.GroupEvent] = []
    /// Whether partitions are given back at once, since nobody reads the events any more.
    var isClosing = false

    init(_ log: KafkaLog) {
        self.log = log
    }

    func takeRebalance() -> KafkaConsumer.GroupEvent? {
        rebalances.isEmpty ? nil : rebalances.removeFirst()
    }

    /// Registers for the callbacks of the client that is created from `configuration`.
    ///
    /// The client's threads use the log, so call `letGo` only once they have ended, or if no client was created.
    func listen(to configuration: OpaquePointer) {
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passRetained(self).toOpaque())  // released by `letGo`
        rd_kafka_conf_set_log_cb(configuration) { client, severity, facility, line in
            guard let client, let opaque = rd_kafka_opaque(client), let line else { return }
            Unmanaged<ConsumerContext>.fromOpaque(opaque).takeUnretainedValue().log.take(
                severity: severity,
                facility: facility.map { String(cString: $0) } ?? "",
                line: String(cString: line)
            )
        }
        rd_kafka_conf_set_rebalance_cb(configuration) { client, code, partitions, opaque in
            guard let client, let opaque else { return }
            let context = Unmanaged<ConsumerContext>.fromOpaque(opaque).takeUnretainedValue()
            context.rebalance(client, code, partitions)
        }
    }

    /// Releases the reference that `listen` made.
    func letGo() {
        Unmanaged.passUnretained(self).release()
    }

    private func rebalance(
        _ client: OpaquePointer,
        _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        if isClosing {
            client.giveBackPartitions(
                answering: code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS ? .assignment : .revocation
            )
            return
        }
        guard code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS else {
            rebalances.append(rd_kafka_assignment_lost(client) == 0 ? .revoked : .lost)
            return
        }
        let list = partitions?.pointee
        // They come from the leader of the group, which may be another program.
        let numbers = Set((0..<Int(list?.cnt ?? 0)).compactMap { list?.elems[$0].partition })
        rebalances.append(.assigned(numbers.sorted()))
    }
}

/// A change of the assignment that the client waits to have answered.
enum RebalanceKind {
    case assignment
    case revocation
}

extension OpaquePointer {
    /// Answers a change of the assignment with no partitions.
    ///
    /// Until it has its answer, the client takes no part in a rebalance, and cannot leave the group. Once the consumer is being closed,
    /// call this only for a change that has no answer yet: librdkafka 2.0.2 drops the requests that it has when its part in the group
    /// ends (`rd_kafka_cgrp_terminated`), and the call for one of them never returns.
    func giveBackPartitions(answering kind: RebalanceKind) {
        switch kind {
        case .assignment:
            let none = rd_kafka_topic_partition_list_new(0)
            defer { rd_kafka_topic_partition_list_destroy(none) }
            rd_kafka_assign(self, none)
        case .revocation: rd_kafka_assign(self, nil)
        }
    }
}
