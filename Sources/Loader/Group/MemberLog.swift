import EventModel
import Logging
import TrackerKit

/// What is logged about a member: each problem when it begins, and then once a minute with the number of its occurrences.
struct MemberLog {
    private let logger: Logger
    private var group: ReadingLog
    private var requests: ReadingLog
    private var stalls = FailureEpisode()
    private var commits = FailureEpisode()
    private var partitions: [Int32: PartitionLog] = [:]
    private var hasSubscribed = false

    init(_ logger: Logger) {
        self.logger = logger
        group = ReadingLog(logger, subject: "the group")
        requests = ReadingLog(logger, subject: "offsets")
    }

    /// Whether Kafka cannot be read, the group assigns no partitions, or a partition cannot be loaded.
    var isFailing: Bool {
        group.isFailing || requests.isFailing || stalls.isFailing || partitions.values.contains(where: \.isFailing)
    }

    mutating func handle(_ notice: MemberNotice, now: Duration) {
        switch notice {
        case .assigned(let numbers):
            partitions = Dictionary(numbers.map { ($0, PartitionLog(of: $0, logger)) }) { first, _ in first }
            logger.info("The group has assigned partitions.", metadata: ["partitions": "\(numbers)"])
        case .groupAccepted: groupAccepted(now: now)
        case .revoked(let count):
            logger.debug("The group takes the partitions back.", metadata: ["partitions": "\(count)"])
        case .lost(let count):
            logger.warning(
                "The group has given this member's partitions to others; batches under way are cancelled.",
                metadata: ["partitions": "\(count)"]
            )
        case .gaveBack: partitions = [:]
        case .groupIsStalled(let time):
            guard stalls.failed(now: now) != nil else { return }
            logger.warning(
                "The consumer group has not assigned partitions; the member keeps waiting.",
                metadata: ["seconds": "\(time.loggedSeconds)"]
            )
        case .groupFailed(let error): group.failed(error, now: now)
        case .leaves(let reason):
            logger.error(
                "The member leaves its group, so that others can load its partitions.",
                metadata: ["reason": "\(reason)"]
            )
        case .subscribed:
            if hasSubscribed { logger.notice("The member joins its group again.") }
            hasSubscribed = true
        case .readsAgain(let numbers):
            logger.info(
                "A partition was not read any more, so all partitions are read again from their next records.",
                metadata: ["partitions": "\(numbers)"]
            )
        case .gaveUpBatch(let number):
            logger.warning(
                "A batch of a revoked partition did not end in time and was given up.",
                metadata: ["partition": "\(number)"]
            )
        case .requestFailed(let error): requests.failed(error, now: now)
        case .requestSucceeded: requests.succeeded(now: now)
        case .commitFailed(let error, let isExpected): commitFailed(error, isExpected: isExpected, now: now)
        case .commitSucceeded:
            guard commits.isFailing, let summary = commits.ended(now: now) else { return }
            logger.notice(
                "Offsets are committed to Kafka again.",
                metadata: ["seconds": "\(summary.duration.loggedSeconds)"]
            )
        case .partition(let number, let notice): partitions[number]?.handle(notice, now: now)
        }
    }

    private mutating func groupAccepted(now: Duration) {
        group.succeeded(now: now)
        guard stalls.isFailing, let summary = stalls.ended(now: now) else { return }
        logger.notice(
            "The consumer group has assigned partitions again.",
            metadata: ["seconds": "\(summary.duration.loggedSeconds)"]
        )
    }

    private mutating func commitFailed(_ error: TrackerError, isExpected: Bool, now: Duration) {
        guard let summary = commits.failed(because: error.code.description, now: now) else { return }
        logger.log(
            level: isExpected ? .info : .warning,
            "Offsets could not be committed to Kafka; the loader will retry.",
            metadata: ["error": "\(error)", "failures": "\(summary.count)"]
        )
    }
}
