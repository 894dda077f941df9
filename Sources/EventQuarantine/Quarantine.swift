package import EventJournal
public import EventModel
package import EventValidation
public import Logging
import Metrics
import Synchronization
package import TrackerKit

/// The dead-letter queue: it stores events that were not delivered, with the reason, so that they can be replayed.
///
/// It is a folder of journals. Each process that writes has two of them to itself, so several processes can share the folder.
/// Files have mode 0600, because events describe what customers did.
///
/// - **Rejected events** of senders go to a ring buffer (`verdicts/N`): at its size limit the oldest are removed, counted and
///   logged. When the sender is answered, the events are handed to a thread, at most 16 MiB at a time. Events beyond that, and
///   events that the disk does not accept, are counted as lost and logged. A crash of the process loses events that were not
///   written yet; a loss of power also loses those that the operating system had not written.
/// - **Refused and parked events** of trackers go to a journal of their own (`refused/N`), are synced before they count as
///   settled, and are not removed to make room. At the size limit, a pipeline with a journal holds the tracker's cursor before
///   them.
///
/// Events of both kinds are removed once they are older than the age limit, also those of processes that have ended; each process
/// looks for them once an hour.
///
/// Each process has a size limit, a quarter of which is for the ring buffer. Errors of the quarantine are never reported to a
/// sender.
public final class Quarantine: Sendable {
    /// The default size limit of each process: 1 GiB.
    public static let defaultCapacityInBytes = 1 << 30
    /// The default age limit of stored events: 90 days.
    public static let defaultRetention = Duration.seconds(90 * 86_400)
    /// The maximum number of bytes of rejected events that are handed over and not written yet: 16 MiB.
    package static let handoverCapacityInBytes = 16 << 20

    /// `nil` if nothing is stored, like `refusals`.
    private let ring: VerdictRing?
    private let refusals: RefusalJournal?
    private let handover: Mutex<VerdictHandover>
    private let nextDrain = Atomic<UInt64>(0)
    private let counts = Mutex(Counts())
    private let retention: QuarantineRetention
    /// The parts of other processes; `nil` if there are none.
    private let unclaimed: UnclaimedParts?
    /// The time of the opening, by the wall clock, in microseconds since 1970.
    private let openedAt: Int64
    private let now: @Sendable () -> Timestamp
    /// Times the log messages, independently of the wall clock.
    private let clock: RelativeClock
    private let logger: Logger
    private let metrics = QuarantineMetrics()

    private struct Counts {
        var statistics = QuarantineStatistics()
        /// Events are not stored, for lack of room or of a disk.
        var losses = FailureEpisode()
        /// The disk does not accept the rejected events of senders.
        var writeFailures = FailureEpisode()
        /// The oldest rejected events are removed.
        var overwrites = FailureEpisode()
        /// Events that are too old cannot be removed.
        var expiryFailures = FailureEpisode()
    }

    /// Opens the folder, which is created if necessary; `now` gives the time at which an event is stored.
    ///
    /// `capacityInBytes` limits what this process stores: a quarter is for rejected events of senders, the rest for events that
    /// trackers refuse. A ring buffer of less than 16 MiB may be too small for the rejected events of a large request. Events
    /// that older versions stored in the folder do not count. Events older than `retention` are removed.
    ///
    /// - Throws: `QuarantineError` if the folder cannot be written, or if the system cannot create a thread.
    public convenience init(
        folder: String,
        capacityInBytes: Int = Quarantine.defaultCapacityInBytes,
        retention: Duration = Quarantine.defaultRetention,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(QuarantineError) {
        do throws(JournalError) {
            let parts = QuarantineFolder(path: folder)
            let (verdicts, verdictsLock) = try parts.claimPart(.verdicts)
            let (refusals, refusalsLock) = try parts.claimPart(.refused)
            let ringBytes = capacityInBytes / 4
            try self.init(
                verdicts: verdicts,
                refusals: refusals,
                locks: (verdictsLock, refusalsLock),
                capacities: (ringBytes, capacityInBytes - ringBytes),
                retention: retention,
                unclaimed: try UnclaimedParts(parts),
                logger: logger,
                now: now
            )
        } catch {
            throw QuarantineError(folder: folder, error)
        }
    }

    /// Opens a quarantine whose two journals are in file systems of any type.
    package init(
        verdicts: any FileSystem,
        refusals: any FileSystem,
        locks: (verdicts: FolderLock, refusals: FolderLock)? = nil,
        capacities: (verdicts: Int, refusals: Int),
        handoverCapacityInBytes: Int = Quarantine.handoverCapacityInBytes,
        retention: Duration = Quarantine.defaultRetention,
        unclaimed: UnclaimedParts? = nil,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp
    ) throws(JournalError) {
        let time = now().microseconds
        let kept = try Journal(
            refusals,
            lock: locks?.refusals,
            configuration: QuarantineFolder.configuration(.fsync, capacityInBytes: capacities.refusals),
            now: time
        )
        let latest = try Journal(
            verdicts,
            lock: locks?.verdicts,
            configuration: QuarantineFolder.configuration(.none, capacityInBytes: capacities.verdicts),
            now: time
        )
        self.refusals = try RefusalJournal(kept)
        ring = try VerdictRing(latest, now: time)
        // Small compared with the ring buffer, so that a frame always fits after old ones are removed.
        handover = Mutex(
            VerdictHandover(
                capacityInBytes: handoverCapacityInBytes,
                maximumFrameBytes: min(1 << 20, capacities.verdicts / 8)
            )
        )
        self.retention = QuarantineRetention(age: retention)
        self.unclaimed = unclaimed
        openedAt = time
        self.now = now
        self.clock = RelativeClock(clock)
        self.logger = logger
        for finding in latest.recovery.sentences + kept.recovery.sentences {
            logger.warning("The quarantine is damaged.", metadata: ["finding": "\(finding)"])
        }
    }

    private init(discardingWith logger: Logger) {
        ring = nil
        refusals = nil
        handover = Mutex(VerdictHandover(capacityInBytes: 0, maximumFrameBytes: 0))
        retention = QuarantineRetention(age: Self.defaultRetention)
        unclaimed = nil
        openedAt = 0
        now = Timestamp.now
        clock = RelativeClock(ContinuousClock())
        self.logger = logger
    }

    /// A quarantine that stores nothing: rejected and refused events are counted, logged and lost.
    ///
    /// For services without a disk.
    public static func discarding(logger: Logger) -> Quarantine {
        Quarantine(discardingWith: logger)
    }

    /// Whether it stores nothing.
    package var isDiscarding: Bool { refusals == nil }

    /// The counts of stored, lost and overwritten events.
    public var statistics: QuarantineStatistics {
        counts.withLock { $0.statistics }
    }

    // MARK: Rejected events of senders

    /// Stores events that failed validation against a version of the plan; never waits for the disk.
    ///
    /// They take at most their own bytes and `VerdictRecords.maximumOverheadBytes`.
    package func keep(_ rejections: [Rejection], source: String, planVersion: String?) {
        guard !rejections.isEmpty else { return }
        guard let ring else { return countLost(rejections.count, Self.discards) }
        let entry = VerdictHandover.Entry(rejections, source: source, planVersion: planVersion, at: now())
        switch handover.withLock({ $0.add(entry) }) {
        case .waits: break
        // The task ends once everything handed over is written; `drain` waits for that.
        case .startsWriting: Task { await writeHandedOver(to: ring) }
        case .full: countLost(rejections.count, "Rejected events arrived faster than the disk writes them.")
        }
    }

    private func writeHandedOver(to ring: VerdictRing) async {
        while let entries = handover.withLock({ $0.next() }) {
            let outcome = await ring.write(entries)
            let events = entries.reduce(0) { $0 + $1.rejections.count }
            if let error = outcome.error {
                countLost(events, error.message, in: \.writeFailures)
            } else {
                noteWritten()
                countKept(events)
            }
            if outcome.overwritten > 0 { countOverwritten(outcome.overwritten) }
            let drained = handover.withLock { $0.finish(entries) }
            for completion in drained { completion() }
        }
    }

    /// Waits until the rejected events that were handed over so far are written, or counted as lost.
    ///
    /// Returns early when the task is cancelled.
    package func drain() async {
        let number = nextDrain.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                endDrains { $0.drain(number: number) { continuation.resume() } }
                // A cancellation before this point found no drain to end.
                if Task.isCancelled { endDrains { $0.abandonDrain(number: number) } }
            }
        } onCancel: {
            endDrains { $0.abandonDrain(number: number) }
        }
    }

    private func endDrains(_ change: (inout sending VerdictHandover) -> [@Sendable () -> Void]) {
        for completion in handover.withLock({ change(&$0) }) { completion() }
    }

    /// The number of events that are handed over and not written yet.
    package var unwrittenEvents: Int { handover.withLock { $0.events } }

    // MARK: Refused events of trackers

    /// Stores events that a tracker refused, or that were parked, each with its reason; they are synced when this returns.
    ///
    /// - Throws: If they cannot be stored. Nothing is counted then, because the caller has to try again.
    package func keep(
        _ refusals: [(event: TrackedEvent, reason: String)],
        refusedBy tracker: String,
        as verdict: DeliveryVerdict = .refused
    ) async throws(JournalError) {
        var lines = QuarantineLines(at: now())
        for refusal in refusals {
            lines.add(refusal.event, refusedBy: tracker, as: verdict, reason: refusal.reason)
        }
        try await storePermanently(lines)
    }

    /// Stores accepted events that no longer follow the plan, and that a tracker had not delivered; they are synced when this
    /// returns, and are not removed to make room.
    ///
    /// The tracker is stored with them, so that a replay does not send them to the other trackers again.
    ///
    /// - Throws: As `keep(_:refusedBy:as:)`.
    package func keep(
        _ rejections: [Rejection],
        undeliveredBy tracker: String,
        planVersion: String?
    ) async throws(JournalError) {
        var lines = QuarantineLines(at: now())
        for rejection in rejections { lines.add(rejection, undeliveredBy: tracker, planVersion: planVersion) }
        try await storePermanently(lines)
    }

    private func storePermanently(_ lines: QuarantineLines) async throws(JournalError) {
        guard lines.count > 0 else { return }
        guard let refusals else { return countLost(lines.count, Self.discards) }
        try await refusals.commit(lines)
        countKept(lines.count)
    }

    /// Counts events that could not be stored as lost.
    package func markLost(_ events: Int, _ error: JournalError) {
        countLost(events, error.message)
    }

    /// Counts the events of a request as lost that are more than are stored for one request, or for one sender.
    package func markLost(_ events: Int) {
        guard events > 0 else { return }
        let reason = "A request, or a sender, had more events rejected than are stored for it."
        countLost(events, reason, isCausedBySender: true)
    }

    // MARK: Age limit

    /// Removes the events that are older than the age limit every hour, until the task is cancelled.
    ///
    /// Nothing should wait for its end, because the disk may hang.
    package func keepRemovingExpired() async {
        while (try? await clock.sleepUntil(clock.now() + .seconds(3600))) != nil { await removeExpired() }
    }

    /// Removes the events of both kinds that are older than the age limit; what cannot be removed stays until the next time.
    package func removeExpired() async {
        guard let ring, let refusals else { return }
        let components = clock.now().components
        let elapsed = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let now = openedAt + elapsed
        do throws(JournalError) {
            let rejected = try await ring.removeExpired(retention, now: now)
            let refused = try await refusals.removeExpired(retention, now: now)
            // A clock that is wrong at the opening removes nothing for an hour.
            let unclaimed = elapsed < 3600 * 1_000_000 ? nil : self.unclaimed
            let ofEnded = try await unclaimed?.removeExpired(retention, now: now) ?? 0
            _ = counts.withLock { $0.expiryFailures.ended(now: clock.now()) }
            guard rejected + refused + ofEnded > 0 else { return }
            logger.notice(
                "Events in the quarantine reached its age limit and were removed.",
                metadata: ["rejected": "\(rejected)", "refused": "\(refused)", "ofEndedProcesses": "\(ofEnded)"]
            )
        } catch {
            guard let summary = counts.withLock({ $0.expiryFailures.failed(now: clock.now()) }) else { return }
            logger.error(
                "Expired events in the quarantine could not be removed; the server will try again in an hour.",
                metadata: ["reason": "\(error.message)", "failures": "\(summary.count)"]
            )
        }
    }

    // MARK: Counting

    private static let discards = "The quarantine stores nothing."

    private func countKept(_ events: Int) {
        counts.withLock { $0.statistics.kept += events }
        metrics.kept.increment(by: events)
    }

    private func countLost(
        _ events: Int,
        _ reason: String,
        in episode: WritableKeyPath<Counts, FailureEpisode> = \.losses,
        isCausedBySender: Bool = false
    ) {
        metrics.lost.increment(by: events)
        let summary = counts.withLock { counts in
            counts.statistics.lost += events
            return counts[keyPath: episode].failed(events, now: clock.now())
        }
        guard let summary else { return }
        let facts: Logger.Metadata = ["events": "\(summary.count)", "reason": "\(reason)"]
        // No operator can help it that senders send what is invalid.
        if isCausedBySender {
            logger.warning("Rejected events were not stored.", metadata: facts)
        } else {
            logger.error("Rejected events were not stored.", metadata: facts)
        }
    }

    /// Logs that the disk accepts rejected events again, if it did not.
    private func noteWritten() {
        guard let summary = counts.withLock({ $0.writeFailures.ended(now: clock.now()) }) else { return }
        logger.info(
            "Rejected events are stored again.",
            metadata: ["events": "\(summary.count)", "seconds": "\(summary.duration.loggedSeconds)"]
        )
    }

    private func countOverwritten(_ events: Int) {
        metrics.overwritten.increment(by: events)
        let summary = counts.withLock { counts in
            counts.statistics.overwritten += events
            return counts.overwrites.failed(events, now: clock.now())
        }
        guard let summary else { return }
        logger.warning(
            "The quarantine reached its size limit for rejected events; the oldest were removed to make room.",
            metadata: ["events": "\(summary.count)"]
        )
    }
}
