import EventModel
import Logging
import TrackerKit

/// What is logged about reading from Kafka: each failure when it begins, and then once a minute with the number of its occurrences.
struct ReadingLog {
    private let logger: Logger
    private var failures = FailureEpisode()

    /// Creates a log; `subject` is what is read: the group's state, offsets or records.
    init(_ logger: Logger, subject: String) {
        var logger = logger
        logger[metadataKey: "reading"] = "\(subject)"
        self.logger = logger
    }

    var isFailing: Bool { failures.isFailing }

    mutating func failed(_ error: TrackerError, now: Duration) {
        guard let summary = failures.failed(because: error.code.description, now: now) else { return }
        logger.warning(
            "Kafka cannot be read; the loader will retry.",
            metadata: ["error": "\(error)", "failures": "\(summary.count)"]
        )
    }

    mutating func succeeded(now: Duration) {
        guard isFailing, let summary = failures.ended(now: now) else { return }
        logger.notice("Kafka can be read again.", metadata: ["seconds": "\(summary.duration.loggedSeconds)"])
    }
}
