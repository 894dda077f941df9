import EventModel
import Logging
import SluiceKafka
import TrackerKit

/// Offsets that are committed to Kafka: the positions of a tracker that stores none, and otherwise for tools that show lag.
extension GroupMember {
    /// Whether offsets are committed now.
    private var commitsNow: Bool {
        if clock.now() >= commitsAt { return true }
        return !loading.destination.storesPositions && !commitFailures.isFailing
    }

    /// Takes the answers to commits, and commits what is due.
    func commitOffsets(_ consumer: KafkaConsumer) {
        takeCommitAnswers(consumer)
        if commitsNow { storeOffsets(consumer) }
    }

    /// Commits all offsets that are not committed.
    func storeOffsets(_ consumer: KafkaConsumer) {
        commitsAt = clock.now() + Self.commitPause
        do throws(TrackerError) {
            try consumer.commit(uncommitted)
            uncommitted = [:]
        } catch {
            commitFailed(error)
        }
    }

    /// Commits all offsets before the end of the process, if the tracker depends on them.
    func storeLastOffsets(_ consumer: KafkaConsumer) {
        storeOffsets(consumer)
        guard !loading.destination.storesPositions else { return }
        let deadline = clock.now() + Self.commitTime
        var retryAt = clock.now()
        while consumer.hasPendingCommits || !uncommitted.isEmpty, clock.now() < deadline {
            waitForEvents(milliseconds: 100)
            takeCommitAnswers(consumer)
            guard !uncommitted.isEmpty, clock.now() >= retryAt else { continue }
            retryAt = clock.now() + .milliseconds(500)
            storeOffsets(consumer)
        }
    }

    private func takeCommitAnswers(_ consumer: KafkaConsumer) {
        for answer in consumer.takeCommitAnswers() {
            switch answer {
            case .success:
                guard let summary = commitFailures.ended(now: clock.now()) else { continue }
                logger.notice(
                    "Offsets are committed to Kafka again.",
                    metadata: ["seconds": "\(summary.duration.loggedSeconds)"]
                )
            case .failure(let error):
                for (number, partition) in partitions {
                    guard let offset = partition.load.committedOffset else { continue }
                    uncommitted[number] = offset
                }
                commitsAt = clock.now() + Self.commitPause
                commitFailed(error)
            }
        }
    }

    private func commitFailed(_ error: TrackerError) {
        guard let summary = commitFailures.failed(because: error.code.description, now: clock.now()) else { return }
        logger.log(
            // During a rebalance, the partitions may have another owner.
            level: partitions.isEmpty || isReleasing ? .info : .warning,
            "Offsets could not be committed to Kafka; the loader will retry.",
            metadata: ["error": "\(error)", "failures": "\(summary.count)"]
        )
    }
}
