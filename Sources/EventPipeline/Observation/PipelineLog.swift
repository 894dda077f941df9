import EventJournal
import EventModel
import Logging
import Synchronization
import TrackerKit

/// What the pipeline logs.
///
/// No line contains a value from an event. What fails repeatedly is summed up (`FailureEpisode`): its lines have the number of
/// `failures` since the line before, and `seconds` since the first one.
final class PipelineLog: Sendable {
    /// What can fail repeatedly.
    private enum Failing: Hashable {
        /// A tracker's `start` fails.
        case start
        /// A tracker's deliveries fail, until everything in one is settled.
        case delivery
        /// The journal cannot be read for a tracker.
        case reading
        /// A tracker's cursor cannot be written.
        case cursor
        /// A tracker refuses events.
        case refusal
        /// Events of a tracker are parked.
        case parking
        /// A new plan does not send events to the tracker that it was to get.
        case leftOut
        /// Events of a tracker are dropped because a tombstone covers them.
        case forgotten
        /// A tracker's full queue drops events.
        case drop
        /// The journal's retention removes events that a tracker has not received.
        case loss
        /// The journal's retention removes events that trackers which are not configured have not received.
        case abandonedLoss
        /// A tracker names positions that its delivery does not have.
        case invalidPositions
        /// The journal rejects events.
        case commit
        /// The journal cannot be written.
        case sync
        /// Segments of the journal cannot be removed.
        case removal
    }

    private struct Subject: Hashable {
        let failing: Failing
        /// `nil` if it concerns the whole pipeline.
        let tracker: String?
    }

    private static let tracker = "tracker"
    private static let event = "event"
    private static let events = "events"
    private static let error = "error"

    let logger: Logger
    private let clock: RelativeClock
    private let episodes = Mutex<[Subject: FailureEpisode]>([:])

    init(logger: Logger, clock: RelativeClock) {
        self.logger = logger
        self.clock = clock
    }

    /// Counts failures; returns what to log now, if anything.
    private func failed(
        _ failing: Failing,
        of tracker: String? = nil,
        count: Int = 1,
        because reason: String = ""
    ) -> FailureEpisode.Summary? {
        episodes.withLock {
            $0[Subject(failing: failing, tracker: tracker), default: FailureEpisode()]
                .failed(count, because: reason, now: clock.now())
        }
    }

    /// Ends an episode of failures, if there is one; returns what to log of it.
    private func ended(_ failing: Failing, of tracker: String? = nil) -> FailureEpisode.Summary? {
        episodes.withLock { $0[Subject(failing: failing, tracker: tracker)]?.ended(now: clock.now()) }
    }

    /// Logs the first start, and each one that ends failures.
    ///
    /// A tracker that starts again because another process superseded it says so when it delivers again.
    func started(_ tracker: String, isFirst: Bool) {
        let failures = ended(.start, of: tracker)
        guard isFirst || failures != nil else { return }
        logger.info("The tracker has started.", metadata: metadata(of: tracker, failures))
    }

    /// Logs that a tracker could not start; `pause` is the time until the next attempt, or `nil` if there is none.
    func startFailed(_ tracker: String, _ error: TrackerError, pause: Duration?) {
        let kind = (error.isRetryable ? "retryable " : "blocked ") + error.code.description
        let summary = failed(.start, of: tracker, because: kind)
        guard let pause else {
            let metadata: Logger.Metadata = [Self.tracker: "\(tracker)", Self.error: "\(error)"]
            return logger.error("The tracker cannot start.", metadata: metadata)
        }
        guard let summary else { return }
        let metadata = metadata(of: tracker, error, pause: pause, summary)
        if error.isRetryable {
            logger.warning("The tracker could not start and will try again; its events wait.", metadata: metadata)
        } else {
            logger.error(
                "The tracker is blocked until the reported problem is fixed; it will try again, and its events wait.",
                metadata: metadata
            )
        }
    }

    func retries(_ tracker: String, _ error: TrackerError, events: Int, pause: Duration) {
        guard let summary = failed(.delivery, of: tracker, because: error.code.description) else { return }
        var metadata = metadata(of: tracker, error, pause: pause, summary)
        metadata[Self.events] = "\(events)"
        logger.warning("A delivery failed and is tried again.", metadata: metadata)
    }

    /// A tracker has settled everything in a delivery.
    func delivered(_ tracker: String) {
        guard let failures = ended(.delivery, of: tracker) else { return }
        logger.info("The tracker delivers again.", metadata: metadata(of: tracker, failures))
    }

    func refused(_ events: Int, tracker: String) {
        guard let summary = failed(.refusal, of: tracker, count: events) else { return }
        logger.warning(
            "The tracker refused events permanently; they are handed to the quarantine.",
            metadata: [Self.tracker: "\(tracker)", Self.events: "\(summary.count)"]
        )
    }

    func broken(_ name: String, _ error: TrackerError, tracker: String) {
        logger.error(
            "The tracker cannot deliver these events, although it delivers others; they are parked in the quarantine.",
            metadata: [Self.tracker: "\(tracker)", Self.event: "\(name)", Self.error: "\(error)"]
        )
    }

    func repaired(_ name: String, tracker: String, after duration: Duration) {
        logger.info(
            "The tracker delivers these events again; run 'sluice replay quarantine --code parked' to deliver the parked ones.",
            metadata: [Self.tracker: "\(tracker)", Self.event: "\(name)", "seconds": "\(duration.loggedSeconds)"]
        )
    }

    func parked(_ events: Int, tracker: String) {
        guard let summary = failed(.parking, of: tracker, count: events) else { return }
        logger.warning(
            "Events that cannot be delivered were parked in the quarantine.",
            metadata: [Self.tracker: "\(tracker)", Self.events: "\(summary.count)"]
        )
    }

    func leftOut(_ events: Int, tracker: String) {
        guard let summary = failed(.leftOut, of: tracker, count: events) else { return }
        logger.warning(
            """
            The new plan no longer sends these events to the tracker, so it skips them; trackers that have already read past \
            them do not get them either.
            """,
            metadata: [Self.tracker: "\(tracker)", Self.events: "\(summary.count)"]
        )
    }

    func forgotten(_ events: Int, tracker: String) {
        guard let summary = failed(.forgotten, of: tracker, count: events) else { return }
        logger.info(
            "The tracker does not get events of people whose data was erased.",
            metadata: [Self.tracker: "\(tracker)", Self.events: "\(summary.count)"]
        )
    }

    func leavesQuarantine(_ events: Int) {
        logger.error(
            "The pipeline ends before rejected events were written to the quarantine: its disk does not keep up.",
            metadata: [Self.events: "\(events)"]
        )
    }

    func invalidPositions(_ count: Int, tracker: String) {
        guard let summary = failed(.invalidPositions, of: tracker, count: count) else { return }
        logger.error(
            "The tracker named positions outside its delivery, or twice; this is an error in the tracker.",
            metadata: [Self.tracker: "\(tracker)", "positions": "\(summary.count)"]
        )
    }

    func dropped(_ events: Int, tracker: String, policy: @autoclosure () -> FullPolicy) {
        guard let summary = failed(.drop, of: tracker, count: events) else { return }
        logger.warning(
            "The tracker's queue is full and drops events.",
            metadata: [Self.tracker: "\(tracker)", Self.events: "\(summary.count)", "policy": "\(policy())"]
        )
    }

    func notCommitted(_ events: Int, _ error: JournalError) {
        guard let summary = failed(.commit, count: events, because: error.code.rawValue) else { return }
        logger.error(
            "The journal rejected events; their senders received an error.",
            metadata: [Self.events: "\(summary.count)", Self.error: "\(error)"]
        )
    }

    /// The journal has accepted events.
    func committed() {
        guard let rejections = ended(.commit) else { return }
        logger.info(
            "The journal accepts events again.",
            metadata: [Self.events: "\(rejections.count)", "seconds": "\(rejections.duration.loggedSeconds)"]
        )
    }

    func notSynced(_ error: JournalError) {
        guard let failures = failed(.sync) else { return }
        logger.error(
            "The journal cannot be written; the pipeline will try again.",
            metadata: metadata(of: error, failures)
        )
    }

    func synced() {
        guard let failures = ended(.sync) else { return }
        logger.info("The journal can be written again.", metadata: failures.metadata)
    }

    func notEnded(_ error: JournalError) {
        logger.error(
            "The journal's last segment could not be synced; a power failure may lose its latest events.",
            metadata: [Self.error: "\(error)"]
        )
    }

    func diskOverdue(_ wait: Duration, events: Int) {
        logger.error(
            "The journal's disk does not answer; new events are rejected until it does.",
            metadata: ["seconds": "\(wait.loggedSeconds)", Self.events: "\(events)"]
        )
    }

    func diskAnswers(after duration: Duration) {
        logger.info("The journal's disk answers again.", metadata: ["seconds": "\(duration.loggedSeconds)"])
    }

    /// Segments were removed, or none had to be.
    func retired(_ segments: [Segment]) {
        if let failures = ended(.removal) {
            logger.info("Segments of the journal can be removed again.", metadata: failures.metadata)
        }
        guard !segments.isEmpty else { return }
        let names = segments.map(\.name.text).joined(separator: ", ")
        logger.info("Segments of the journal were removed.", metadata: ["segments": "\(names)"])
    }

    func notRetired(_ error: JournalError) {
        guard let failures = failed(.removal, because: error.code.rawValue) else { return }
        logger.error("Segments of the journal could not be removed.", metadata: metadata(of: error, failures))
    }

    func lost(_ events: Int, tracker: String) {
        guard let summary = failed(.loss, of: tracker, count: events) else { return }
        logger.error(
            "The journal's retention removes events that the tracker has not received.",
            metadata: [Self.tracker: "\(tracker)", Self.events: "\(summary.count)"]
        )
    }

    func lost(of unconfigured: [String]) {
        guard failed(.abandonedLoss) != nil else { return }
        let names = unconfigured.joined(separator: ", ")
        logger.error(
            "The journal's retention removes events that trackers which are not configured have not received.",
            metadata: ["trackers": "\(names)"]
        )
    }

    func cursorNotMoved(_ tracker: String, _ error: JournalError) {
        guard let failures = failed(.cursor, of: tracker, because: error.code.rawValue) else { return }
        logger.error(
            "The tracker's cursor could not be written; after a restart the tracker gets some events again.",
            metadata: metadata(of: error, failures).merging([Self.tracker: "\(tracker)"]) { $1 }
        )
    }

    func cursorMoved(_ tracker: String) {
        guard let failures = ended(.cursor, of: tracker) else { return }
        logger.info("The tracker's cursor can be written again.", metadata: metadata(of: tracker, failures))
    }

    func resumes(_ tracker: String, _ resumption: Resumption, end: UInt64) {
        var metadata: Logger.Metadata = [Self.tracker: "\(tracker)", "sequence": "\(resumption.sequence)"]
        switch resumption.finding {
        case .agrees:
            break
        case .ahead:
            logger.info(
                "The tracker's checkpoint is ahead of its cursor; it continues from the checkpoint.",
                metadata: metadata
            )
        case .behind:
            logger.warning(
                "The tracker's checkpoint is behind its cursor, as after a restore; it continues from the checkpoint.",
                metadata: metadata
            )
        case .beyondJournal:
            metadata["stored"] = "\(resumption.checkpoint ?? 0)"
            metadata["end"] = "\(end)"
            logger.error(
                "The tracker's checkpoint is beyond the end of the journal, which must be an older copy; it continues from its cursor.",
                metadata: metadata
            )
        }
        if let missing = resumption.missing {
            logger.error(
                "The journal begins after the tracker's checkpoint; the tracker does not get the events between.",
                metadata: [Self.tracker: "\(tracker)", "from": "\(missing.lowerBound)", "to": "\(missing.upperBound)"]
            )
        }
    }

    func journalNotRead(_ error: JournalError, tracker: String, pause: Duration) {
        guard let failures = failed(.reading, of: tracker, because: error.code.rawValue) else { return }
        logger.error(
            "The journal could not be read for the tracker; it will be read again after a pause.",
            metadata: metadata(of: error, failures).merging([Self.tracker: "\(tracker)", "pause": "\(pause)"]) { $1 }
        )
    }

    func journalRead(for tracker: String) {
        guard let failures = ended(.reading, of: tracker) else { return }
        logger.info("The journal can be read for the tracker again.", metadata: metadata(of: tracker, failures))
    }

    func damaged(_ damage: Damage, tracker: String) {
        logger.error(
            "The journal is damaged; the tracker does not get the events of the damaged part.",
            metadata: [Self.tracker: "\(tracker)", "damage": "\(damage)"]
        )
    }

    func cancelsDeliveries() {
        logger.warning("The time to drain the queues is over; deliveries are cancelled.")
    }

    func undelivered(_ events: Int, tracker: String, isJournaled: Bool) {
        let metadata: Logger.Metadata = [Self.tracker: "\(tracker)", Self.events: "\(events)"]
        if isJournaled {
            logger.info("Events were left in the journal; they are delivered after the next start.", metadata: metadata)
        } else {
            logger.error("Events were not delivered before the pipeline ended.", metadata: metadata)
        }
    }

    func leftBehind(_ tracker: String) {
        logger.error(
            "The tracker did not return in time after its cancellation, and is left behind.",
            metadata: [Self.tracker: "\(tracker)"]
        )
    }

    private func metadata(of tracker: String, _ summary: FailureEpisode.Summary?) -> Logger.Metadata {
        (summary?.metadata ?? [:]).merging([Self.tracker: "\(tracker)"]) { $1 }
    }

    private func metadata(of error: JournalError, _ summary: FailureEpisode.Summary) -> Logger.Metadata {
        summary.metadata.merging([Self.error: "\(error)"]) { $1 }
    }

    private func metadata(
        of tracker: String,
        _ error: TrackerError,
        pause: Duration,
        _ summary: FailureEpisode.Summary
    ) -> Logger.Metadata {
        summary.metadata.merging([Self.tracker: "\(tracker)", Self.error: "\(error)", "pause": "\(pause)"]) { $1 }
    }
}
