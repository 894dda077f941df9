import EventModel
import Logging
import SluiceKafka
import TrackerKit

/// What is logged about a partition: each problem when it begins, and then once a minute with the number of its occurrences.
struct PartitionLog {
    private let logger: Logger
    private var reading: ReadingLog
    private var failures = FailureEpisode()
    private var refusals = FailureEpisode()
    private var planWaits = FailureEpisode()
    private var gaps = FailureEpisode()
    /// The halt that was logged last.
    private var halt: Halt?

    init(of partition: LoadedPartition, _ logger: Logger) {
        var logger = logger
        logger[metadataKey: "partition"] = "\(partition.number)"
        self.logger = logger
        reading = ReadingLog(logger, subject: "records")
    }

    /// Whether the last batch, claim or attempt to read records has failed.
    var isFailing: Bool { failures.isFailing || reading.isFailing }

    mutating func readingFailed(_ error: TrackerError, now: Duration) { reading.failed(error, now: now) }
    mutating func readingSucceeded(now: Duration) { reading.succeeded(now: now) }

    /// An operation has ended, with an error or without.
    mutating func ended(_ error: TrackerError?, now: Duration) {
        guard let error else {
            guard let summary = failures.ended(now: now) else { return }
            logger.notice(
                "The partition is loaded again.",
                metadata: ["seconds": "\(summary.duration.loggedSeconds)"]
            )
            return
        }
        guard let summary = failures.failed(because: error.code.description, now: now) else { return }
        logger.warning(
            "A partition could not be loaded; the loader will retry, and its records stay in Kafka.",
            metadata: ["error": "\(error)", "failures": "\(summary.count)"]
        )
    }

    /// - Parameter start: Where the loader has begun, if it is new to the partition.
    func claimed(at position: StoredPosition, from start: MemberInbox.Start?) {
        let next = position.nextOffset
        logger.debug("The partition is claimed.", metadata: ["next": "\(next)"])
        guard let start else { return }
        logger.notice("The partition is new to the loader.", metadata: ["next": "\(next)"])
        // With a later start, these are not wanted.
        guard start.watermarks.low > 0, next == start.watermarks.low else { return }
        logger.warning(
            "Retention has removed the beginning of the partition, which cannot be loaded.",
            metadata: ["first": "0", "next": "\(next)"]
        )
    }

    func superseded() {
        logger.notice(
            "The stored epoch is another one, so nothing more is loaded: another loader has the partition, or the database was restored."
        )
    }

    func accepted(_ loss: AcceptedLoss) {
        logger.warning(
            "Lost records are skipped because of --accept-loss.",
            metadata: ["first": "\(loss.first)", "next": "\(loss.next)", "reason": "\(loss.reason)"]
        )
    }

    mutating func refused(_ report: BatchReport, now: Duration) {
        guard let summary = refusals.failed(report.refused, now: now) else { return }
        var metadata: Logger.Metadata = ["records": "\(summary.count)"]
        if let refusal = report.refusal { metadata["first"] = "\(refusal)" }
        logger.warning("Records were refused; they are kept, and can be replayed.", metadata: metadata)
    }

    /// The record at an offset waits for a loader with its plan; `nil` if none does.
    mutating func waits(at offset: Int64?, for time: Duration, now: Duration) {
        guard let offset else {
            _ = planWaits.ended(now: now)
            return
        }
        guard let summary = planWaits.failed(now: now) else { return }
        logger.notice(
            "An invalid record was checked against another plan by its sender; the partition waits for a loader with that plan.",
            metadata: [
                "offset": "\(offset)", "refused_after_seconds": "\(time.loggedSeconds)", "waits": "\(summary.count)",
            ]
        )
    }

    mutating func skipped(_ offsets: Range<Int64>, now: Duration) {
        guard let summary = gaps.failed(offsets.count, now: now) else { return }
        logger.info(
            "Offsets were skipped that belong to no record, such as those of transaction markers.",
            metadata: [
                "first": "\(offsets.lowerBound)", "next": "\(offsets.upperBound)", "offsets": "\(summary.count)",
            ]
        )
    }

    /// The partition is halted, or not any more.
    mutating func halted(_ halt: Halt?) {
        guard halt != self.halt else { return }
        self.halt = halt
        guard let halt else { return }
        if case .refusedFull = halt {
            logger.warning(
                "A partition has reached its limit of refused records; replay or remove some, and it is loaded again.",
                metadata: ["reason": "\(halt)"]
            )
        } else {
            logger.error(
                "Kafka does not have the next records of a partition; before you use --accept-loss, read SluiceLoadHalted in the runbook.",
                metadata: ["reason": "\(halt)"]
            )
        }
    }
}
