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

    init(of partition: Int32, _ logger: Logger) {
        var logger = logger
        logger[metadataKey: "partition"] = "\(partition)"
        self.logger = logger
        reading = ReadingLog(logger, subject: "records")
    }

    /// Whether the last batch, claim or attempt to read records has failed.
    var isFailing: Bool { failures.isFailing || reading.isFailing }

    mutating func handle(_ notice: PartitionNotice, now: Duration) {
        switch notice {
        case .readingFailed(let error): reading.failed(error, now: now)
        case .readingSucceeded: reading.succeeded(now: now)
        case .ended(let error): ended(error, now: now)
        case .claimed(let position, let start): claimed(at: position, from: start)
        case .superseded: superseded()
        case .accepted(let loss): accepted(loss)
        case .loaded(let report): loaded(report, now: now)
        case .skipped(let offsets): skipped(offsets, now: now)
        case .halted(let halt): halted(halt)
        }
    }

    private mutating func loaded(_ report: BatchReport, now: Duration) {
        if report.refused > 0 { refused(report, now: now) }
        guard case .committed(let end, _, let wait) = report.outcome else { return }
        waits(at: wait == nil ? nil : end, for: wait ?? .zero, now: now)
    }

    /// An operation has ended, with an error or without.
    private mutating func ended(_ error: TrackerError?, now: Duration) {
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

    /// Logs a claim; `start` is where the loader has begun, or `nil` if it is not new to the partition.
    private func claimed(at position: StoredPosition, from start: PartitionStart?) {
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

    private func superseded() {
        logger.notice(
            "The stored epoch is another one, so nothing more is loaded: another loader has the partition, or the database was restored."
        )
    }

    private func accepted(_ loss: AcceptedLoss) {
        logger.warning(
            "Lost records are skipped because of --accept-loss.",
            metadata: ["first": "\(loss.first)", "next": "\(loss.next)", "reason": "\(loss.reason)"]
        )
    }

    private mutating func refused(_ report: BatchReport, now: Duration) {
        guard let summary = refusals.failed(report.refused, now: now) else { return }
        var metadata: Logger.Metadata = ["records": "\(summary.count)"]
        if let refusal = report.refusal { metadata["first"] = "\(refusal)" }
        logger.warning("Records were refused; they are kept, and can be replayed.", metadata: metadata)
    }

    /// The record at an offset waits for a loader with its plan; `nil` if none does.
    private mutating func waits(at offset: Int64?, for time: Duration, now: Duration) {
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

    private mutating func skipped(_ offsets: Range<Int64>, now: Duration) {
        guard let summary = gaps.failed(offsets.count, now: now) else { return }
        logger.info(
            "Offsets were skipped that belong to no record, such as those of transaction markers.",
            metadata: [
                "first": "\(offsets.lowerBound)", "next": "\(offsets.upperBound)", "offsets": "\(summary.count)",
            ]
        )
    }

    private func halted(_ halt: Halt?) {
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
