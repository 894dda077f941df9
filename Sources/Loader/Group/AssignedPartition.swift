import EventModel
import Logging
import SluiceKafka
import TrackerKit

/// A partition that the group has assigned to this member.
struct AssignedPartition {
    /// The comparison of the last record that was loaded with the one at its offset, which is being read.
    struct Comparison {
        let expected: RecordNote
        /// Where loading continues if they differ and the loss is accepted.
        let restart: Int64
        let deadline: Duration
        /// Whether the record was sought a second time; a difference halts the partition, so it is confirmed first.
        var isRepeated = false
    }

    var load: PartitionLoad<ConsumedRecord>
    /// Tells the results of its operations from those of an earlier assignment.
    let assignment: Int
    /// Where loading begins if no position is stored; `nil` before it was looked for.
    var start: MemberInbox.Start?
    /// When the last record was written that is loaded, in milliseconds since 1970.
    var lastTimestamp: Int64?
    var comparison: Comparison?
    /// Where the consumer has to continue before anything is read.
    var pendingSeek: Int64?
    /// Seeks are not tried before this time.
    var seeksAt: Duration = .zero
    /// Since when the consumer has refused to seek.
    var refusedSince: Duration?
    var operation: Task<Void, Never>?
    /// Since when the stored epoch is known to be another one.
    var supersededSince: Duration?
    var log: PartitionLog

    init(_ partition: LoadedPartition, assignment: Int, limits: LoadLimits, logger: Logger) {
        load = PartitionLoad(partition, limits: limits)
        self.assignment = assignment
        log = PartitionLog(of: partition, logger)
    }
}
