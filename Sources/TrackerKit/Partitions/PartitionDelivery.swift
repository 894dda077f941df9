/// The records of one partition that a tracker loads in one transaction, together with the position after them.
package struct PartitionDelivery: Sendable {
    package let partition: LoadedPartition
    /// The epoch of the claim under which the records are loaded.
    package let epoch: Int64
    /// The offset at which the stored position has to be.
    package let start: Int64
    /// The offset of the next position.
    package let end: Int64
    /// The last record before `end`; `nil` if the offsets belong to no record, and the stored one stays.
    package let lastRecord: RecordNote?
    /// The events to load, without a checkpoint; may be empty.
    package let events: Delivery
    /// The records that do not follow the plan.
    package let refused: [RefusedRecord]
    /// The tables whose events are refused if they accept none while others do; if another table accepts none, nothing is loaded.
    package let refusing: Set<String>
    /// Whether the destination has accepted events of other deliveries since a table last accepted none of this partition's.
    package let acceptsOthers: Bool
    /// Makes the refused record of the event at a position of `events`.
    package let refuse: @Sendable (_ position: Int, _ reason: RefusalReason) -> RefusedRecord

    package init(
        partition: LoadedPartition,
        epoch: Int64,
        start: Int64,
        end: Int64,
        lastRecord: RecordNote?,
        events: Delivery,
        refused: [RefusedRecord],
        refusing: Set<String>,
        acceptsOthers: Bool = false,
        refuse: @escaping @Sendable (_ position: Int, _ reason: RefusalReason) -> RefusedRecord
    ) {
        self.partition = partition
        self.epoch = epoch
        self.start = start
        self.end = end
        self.lastRecord = lastRecord
        self.events = events
        self.refused = refused
        self.refusing = refusing
        self.acceptsOthers = acceptsOthers
        self.refuse = refuse
    }
}

/// A copy of a record of a topic.
package struct SourceRecord: Sendable, Hashable {
    package struct Header: Sendable, Hashable {
        package let name: String
        package let value: [UInt8]

        package init(name: String, value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    package let offset: Int64
    package let key: [UInt8]?
    /// `nil` for a tombstone.
    package let value: [UInt8]?
    package let headers: [Header]

    package init(offset: Int64, key: [UInt8]?, value: [UInt8]?, headers: [Header]) {
        self.offset = offset
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// A record that is kept instead of loaded, and why.
package struct RefusedRecord: Sendable {
    package let record: SourceRecord
    /// The verdict as a JSON object, as the quarantine has it.
    package let verdict: String

    package init(record: SourceRecord, verdict: String) {
        self.record = record
        self.verdict = verdict
    }
}

/// Why a valid event is not loaded.
package enum RefusalReason: Sendable, Hashable {
    /// The destination will never accept it, and says why.
    case refused(String)
    /// Its part of the destination accepts nothing.
    case broken(String)
}

/// The outcome of a delivery of a partition.
package enum PartitionOutcome: Sendable {
    /// Everything is committed: the events, the position, and the refused records. `refused` is their number, `stuck` the number of
    /// valid events among them whose table accepts nothing, and `broken` are these tables.
    case committed(refused: Int, broken: Set<String>, stuck: Int)
    /// The stored position or epoch is another one, so nothing is committed.
    case superseded
    /// It is unknown whether the transaction is committed.
    case unknown(TrackerError)
    /// So many rows are refused that there was not enough time to find them all; nothing is committed. A smaller delivery helps.
    case tooLarge(TrackerError)
    /// More refused records than this limit would be kept, so nothing is committed. A smaller delivery may have fewer.
    case refusedFull(limit: Int)
    /// These tables accept nothing; nothing is committed, and the delivery can be tried again. `acceptsOthers` says whether the
    /// destination accepts other events; if it does not, it may be unavailable.
    case broken(Set<String>, acceptsOthers: Bool, TrackerError)
    /// Nothing is committed, and the delivery can be tried again.
    case failed(TrackerError)
}
