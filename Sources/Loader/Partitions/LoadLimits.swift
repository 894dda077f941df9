package import TrackerKit

/// The limits of loading a partition.
package struct LoadLimits: Sendable {
    /// The maximum number of records, and of their bytes, in one transaction; a single record may have more.
    package var batchRecords = 10_000
    package var batchBytes = 8 << 20
    /// How long records wait for more records of their partition, from the arrival of the first.
    package var linger = Duration.zero
    /// The maximum number of records, and of their bytes, that wait for their transaction, for each partition.
    package var bufferedRecords = 20_000
    package var bufferedBytes = 16 << 20
    /// The bytes of waiting records of all partitions together above which no more are read, except for partitions that are held up.
    ///
    /// Several batches, so that partitions are read while others are loaded, and few enough that memory is reused.
    package var totalBufferedBytes = 48 << 20
    /// The maximum number of bytes that wait in a partition that is held up.
    package var heldUpBytes = 1 << 20
    /// How old a record of another plan may be that waits for a loader with that plan, until it is refused.
    package var patienceForPlan = Duration.seconds(300)
    /// How long a partition waits for events that the destination does not accept, until they are refused if it accepts others.
    package var patience = Duration.seconds(10)
    /// How long after such events were refused further ones are refused without another wait.
    package var brokenMemory = Duration.seconds(300)
    /// Whether loading continues where records are missing.
    package var acceptsLoss = false
    /// How long nothing is committed until the stored position is read again.
    package var confirmAfter = Duration.seconds(60)
    /// How long an operation may take until the partition is given up.
    package var stuckAfter = Duration.seconds(240)
    /// The pauses after failures.
    package var retry = RetryPolicy()

    package init() {}

    /// Loads as many records at a time as a tracker gets in one delivery.
    mutating func apply(_ delivery: DeliveryLimits) {
        batchRecords = delivery.maximumEvents
        batchBytes = delivery.maximumBytes
        linger = delivery.linger
        bufferedRecords = max(bufferedRecords, batchRecords)
        bufferedBytes = max(bufferedBytes, batchBytes)
        totalBufferedBytes = max(totalBufferedBytes, batchBytes)
    }

    /// How long nothing is tried after so many failures in a row.
    ///
    /// The time of the failure stands in for a random number, so that many partitions do not return at the same moment, and the
    /// decisions about a partition depend on nothing else.
    func pause(afterFailures count: Int, now: Duration) -> Duration {
        let (seconds, attoseconds) = now.components
        let mixed = (UInt64(bitPattern: seconds) ^ UInt64(bitPattern: attoseconds)) &* 0x9E37_79B9_7F4A_7C15
        return retry.pause(afterFailures: count, jitter: Double(mixed >> 40) / Double(1 << 24))
    }
}
