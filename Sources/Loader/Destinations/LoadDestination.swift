import SluiceKafka
package import TrackerKit

/// Where a member loads its partitions, and where their positions are stored.
protocol LoadDestination: Sendable {
    typealias Batch = PartitionLoad<ConsumedRecord>.Batch

    /// Whether the destination stores the positions; otherwise they are the offsets that the group commits to Kafka.
    var storesPositions: Bool { get }

    /// The lane of the partition with this number, which does not wait for operations in other lanes.
    func lane(ofPartition number: Int32) -> Int

    /// Takes a partition over; its position is `start` if none is stored.
    ///
    /// - Throws: Why the tracker cannot claim it.
    func claim(_ partition: LoadedPartition, start: Int64) async throws(TrackerError) -> PartitionClaim

    /// Reads the position of a claimed partition; `nil` if another loader has claimed it since.
    ///
    /// A destination that stores no positions returns `offset`, which is the position as far as the member knows.
    ///
    /// - Throws: Why the tracker cannot read it.
    func renew(
        _ partition: LoadedPartition,
        epoch: Int64,
        at offset: Int64
    ) async throws(TrackerError) -> PartitionClaim?

    /// Moves the position to `loss.next`; returns false if the stored position or epoch is another one.
    ///
    /// - Throws: Why the tracker cannot move it.
    func acceptLoss(
        _ loss: AcceptedLoss,
        of partition: LoadedPartition,
        epoch: Int64
    ) async throws(TrackerError) -> Bool

    /// Loads the checked records of a batch, and keeps those that are refused.
    func load(_ records: CheckedRecords, of batch: Batch, in partition: LoadedPartition) async -> BatchReport
}

/// What happened to a batch, for the log and the metrics.
package struct BatchReport: Sendable {
    package var outcome: LoadOutcome
    /// How many events the tracker has accepted.
    package var loaded = 0
    /// How many records were refused and kept.
    package var refused = 0
    /// How many records were dropped because a tombstone covers their events.
    package internal(set) var forgotten = 0
    /// Why the first record that was refused was refused, without its values; `nil` if only the destination knows.
    var refusal: String?
    /// When the last record of the batch was written, in milliseconds since 1970.
    var lastTimestamp: Int64?
    /// Why nothing was committed.
    package var error: TrackerError?

    package init(
        outcome: LoadOutcome,
        loaded: Int = 0,
        refused: Int = 0,
        refusal: String? = nil,
        error: TrackerError? = nil
    ) {
        self.outcome = outcome
        self.loaded = loaded
        self.refused = refused
        self.refusal = refusal
        self.error = error
    }
}
