import SluiceKafka
package import TrackerKit

/// What has happened to a member that has to be logged or counted.
package enum MemberNotice: Sendable {
    case assigned([Int32])
    /// The member has asked the group for partitions.
    case subscribed
    /// The consumer has taken the assigned partitions over.
    case groupAccepted
    case revoked(count: Int)
    case lost(count: Int)
    /// The member has no partitions any more.
    case gaveBack
    /// The group has not assigned partitions for this time.
    case groupIsStalled(for: Duration)
    case groupFailed(TrackerError)
    case leaves(_ reason: String)
    /// The consumer reads these partitions again, because librdkafka has stopped reading one of them.
    case readsAgain([Int32])
    /// A batch of this partition has not ended in time.
    case gaveUpBatch(Int32)
    case requestFailed(TrackerError)
    case requestSucceeded
    case commitFailed(TrackerError, isExpected: Bool)
    case commitSucceeded
    case partition(Int32, PartitionNotice)
}

/// What has happened to a partition that has to be logged or counted.
package enum PartitionNotice: Sendable {
    case readingFailed(TrackerError)
    case readingSucceeded
    /// An operation has ended, with an error or without.
    case ended(TrackerError?)
    /// The partition is claimed; `from` is where the loader begins, if it is new to it.
    case claimed(StoredPosition, from: PartitionStart?)
    case superseded
    case accepted(AcceptedLoss)
    case loaded(BatchReport)
    case skipped(Range<Int64>)
    /// The partition is halted, or not any more.
    case halted(Halt?)
}
