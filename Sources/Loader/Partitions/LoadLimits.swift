/// The limits of loading a partition.
package struct LoadLimits: Sendable {
    /// The maximum number of records, and of their bytes, in one transaction; a single record may have more.
    package var batchRecords = 10_000
    package var batchBytes = 8 << 20
    /// The maximum number of records, and of their bytes, that wait for their transaction, for each partition.
    package var bufferedRecords = 20_000
    package var bufferedBytes = 16 << 20
    /// The bytes of waiting records of all partitions together above which no more are read, except for partitions that are held up.
    ///
    /// Several batches, so that partitions are read while others are loaded, and few enough that memory is reused.
    package var totalBufferedBytes = 48 << 20
    /// The maximum number of bytes that wait in a partition that is held up.
    package var heldUpBytes = 1 << 20
    /// How old a record of another plan may be that waits for a loader with that plan, and how long a partition waits for a broken
    /// part of the destination, until the records concerned are refused.
    package var patience = Duration.seconds(300)
    /// How long it waits for a part of the destination that an operator has to repair.
    package var patienceForRepairs = Duration.seconds(10)
    /// Whether loading continues where records are missing.
    package var acceptsLoss = false
    /// How long nothing is committed until the stored position is read again.
    package var confirmAfter = Duration.seconds(60)
    /// How long an operation may take until the partition is given up.
    package var stuckAfter = Duration.seconds(240)
    package var firstPause = Duration.milliseconds(100)
    package var longestPause = Duration.seconds(10)

    package init() {}

    /// How long nothing is tried after so many failures in a row.
    func pause(afterFailures count: Int) -> Duration {
        min(longestPause, firstPause * (1 << min(max(0, count - 1), 16)))
    }
}
