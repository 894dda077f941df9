package import EventModel

/// What identifies a refused record of a tracker.
package struct RefusedRecordKey: Sendable, Hashable {
    package let partition: LoadedPartition
    package let offset: Int64

    package init(partition: LoadedPartition, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}

/// Where refused records come from.
package struct RefusedRecordOrigin: Sendable, Hashable {
    package let loader: String
    /// The id of the Kafka cluster.
    package let cluster: String

    package init(loader: String, cluster: String) {
        self.loader = loader
        self.cluster = cluster
    }
}

/// A refused record as the destination keeps it.
package struct StoredRefusal: Sendable {
    package let key: RefusedRecordKey
    /// The record and its verdict; the order of the verdict's keys may have changed.
    package let refused: RefusedRecord
    /// When it was refused.
    package let time: Timestamp

    package init(key: RefusedRecordKey, refused: RefusedRecord, time: Timestamp) {
        self.key = key
        self.refused = refused
        self.time = time
    }
}
