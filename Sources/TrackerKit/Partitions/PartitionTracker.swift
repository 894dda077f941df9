/// A tracker that stores how far each partition of a topic is loaded, in the transaction that loads the events, so that each
/// record counts once.
///
/// It makes these promises in addition to those of `Tracker`:
///
/// - **Claim.** A claim raises the partition's epoch and returns the stored position. It ends the transaction of the earlier owner,
///   even if that owner is frozen, within a time that the tracker's configuration limits.
/// - **Renewal.** A renewal returns the position only if the epoch is still the same, once the tracker's own earlier transaction has
///   ended. It takes the partition from nobody.
/// - **Compare and set.** A delivery is committed only if the stored epoch and offset are the delivery's. Events, refused records and
///   position are committed together, or none of them.
/// - **Refused records.** They are kept until somebody has them removed or until the tracker's configuration lets them expire, and can
///   be read without delivering anything.
/// - **In doubt.** If the tracker does not know whether a transaction was committed, the outcome says so, and a renewal finds out.
package protocol PartitionTracker: TimedTracker {
    /// The lane of the partition with this number, which never changes.
    ///
    /// The tracker runs operations in one lane one after another, and those in different lanes at the same time.
    func lane(ofPartition number: Int32) -> Int

    /// Takes a partition over from its present owner.
    ///
    /// `start` is the position if none is stored. `owner` is the name of the process, for operators.
    ///
    /// - Throws: Why it cannot be claimed now.
    func claim(_ partition: LoadedPartition, start: Int64, owner: String) async throws(TrackerError) -> PartitionClaim

    /// Reads the position of a partition that this process has claimed; `nil` if another owner has claimed it since.
    ///
    /// - Throws: Why it cannot be read now.
    func renew(_ partition: LoadedPartition, epoch: Int64) async throws(TrackerError) -> PartitionClaim?

    /// Loads the records of a partition in one transaction.
    func load(_ delivery: PartitionDelivery) async -> PartitionOutcome

    /// Moves the position of a claimed partition to `loss.next`, and stores the accepted loss in the same transaction.
    ///
    /// - Throws: Why that is not possible now.
    /// - Returns: Whether the stored epoch and offset were the expected ones; otherwise nothing has changed.
    func acceptLoss(
        _ loss: AcceptedLoss,
        of partition: LoadedPartition,
        epoch: Int64
    ) async throws(TrackerError) -> Bool

    /// The positions that the destination has stored for a loader, ordered by topic and partition; changes nothing.
    ///
    /// - Throws: Why they cannot be read.
    func loadedPartitions(ofLoader loader: String) async throws(TrackerError) -> [LoadedPartitionStatus]

    /// The tracker's refused records after a key, in the order of loader, cluster, topic, partition and offset; changes nothing.
    ///
    /// There may be fewer than `limit` although others follow, because a page of large records ends earlier. After the last record
    /// the page is empty.
    ///
    /// A `loader` of `nil` stands for every loader. `key` is the last key of the page before, or `nil` for the first page.
    ///
    /// - Throws: Why they cannot be read.
    func refusedRecords(
        ofLoader loader: String?,
        after key: RefusedRecordKey?,
        limit: Int
    ) async throws(TrackerError) -> [StoredRefusal]

    /// The loaders and clusters that have refused records, without duplicates and in no order.
    ///
    /// - Throws: Why they cannot be read.
    func refusedRecordOrigins(ofLoader loader: String?) async throws(TrackerError) -> [RefusedRecordOrigin]

    /// Removes refused records, such as those that were replayed, and returns how many of them there were.
    ///
    /// - Throws: Why they cannot be removed.
    func removeRefused(_ keys: [RefusedRecordKey]) async throws(TrackerError) -> Int
}

/// A loss of records that an operator has accepted.
package struct AcceptedLoss: Sendable, Hashable {
    /// The stored position: the first record that was not loaded.
    package let first: Int64
    /// The new position.
    package let next: Int64
    /// Why the records are missing.
    package let reason: String

    package init(first: Int64, next: Int64, reason: String) {
        self.first = first
        self.next = next
        self.reason = reason
    }
}

/// What a destination has stored of a partition.
package struct LoadedPartitionStatus: Sendable, Hashable {
    package let partition: LoadedPartition
    package let claim: PartitionClaim
    /// The process that has claimed it.
    package let owner: String
    /// How many of its records are kept as refused.
    package let refused: Int

    package init(partition: LoadedPartition, claim: PartitionClaim, owner: String, refused: Int) {
        self.partition = partition
        self.claim = claim
        self.owner = owner
        self.refused = refused
    }
}
