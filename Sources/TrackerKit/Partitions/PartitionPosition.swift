/// One partition of a Kafka topic, as one loader loads it.
package struct LoadedPartition: Sendable, Hashable, CustomStringConvertible {
    /// The loader's name: positions of different loaders are independent.
    package let loader: String
    /// The id of the Kafka cluster.
    package let cluster: String
    package let topic: String
    package let number: Int32

    package init(loader: String, cluster: String, topic: String, number: Int32) {
        self.loader = loader
        self.cluster = cluster
        self.topic = topic
        self.number = number
    }

    /// `events/3`.
    package var description: String { "\(topic)/\(number)" }
    /// The name of the source from which the ids of events without one are derived.
    package var idSource: String { "kafka:\(cluster)/\(description)" }
}

/// What identifies a record, so that a topic that was recreated under the same name is noticed.
package struct RecordNote: Sendable, Hashable, Codable, CustomStringConvertible {
    package let offset: Int64
    /// The event's id, from the header `ce_id`; `nil` if the record has none.
    ///
    /// U+FFFD replaces each NUL, which databases cannot store, so that a stored note equals the original.
    package let id: String?
    /// Milliseconds since 1970.
    package let timestamp: Int64

    package init(offset: Int64, id: String?, timestamp: Int64) {
        self.offset = offset
        self.id = id.map { String(String.UnicodeScalarView($0.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 })) }
        self.timestamp = timestamp
    }

    /// The offset, the id and the time.
    package var description: String { "\(offset) (id \(id ?? "none"), time \(timestamp))" }
}

/// How far a partition is loaded, as the destination has stored it.
package struct StoredPosition: Sendable, Hashable {
    /// The offset of the first record that is not loaded.
    package let nextOffset: Int64
    /// The last record that was loaded; `nil` if none was.
    package let lastRecord: RecordNote?

    package init(nextOffset: Int64, lastRecord: RecordNote?) {
        self.nextOffset = nextOffset
        self.lastRecord = lastRecord
    }
}

/// The right to load a partition, until another owner claims it.
package struct PartitionClaim: Sendable, Hashable {
    /// Grows with each claim.
    package let epoch: Int64
    package let position: StoredPosition

    package init(epoch: Int64, position: StoredPosition) {
        self.epoch = epoch
        self.position = position
    }
}
