package import EventJournal
public import EventModel
package import EventValidation
public import Logging
import Metrics
import Synchronization
package import TrackerKit

/// The dead-letter queue: where rejected events are kept, with the reason, until the plan or the event is fixed.
///
/// A folder of journals, in the frames of `Journal`; each process that writes has two to itself, so several may share the
/// folder. Files are made with mode 0600, since events hold what customers did.
///
/// - What senders cause is a ring (`verdicts/N`): at its limit the oldest goes, counted and logged. Verdicts are handed to a
///   thread when the sender is answered, at most 16 MiB of them at a time; what finds no room there, and what the disk
///   refuses, is counted and logged, not kept. A crash of the process loses what was handed over and not written, a loss of
///   power also what the system had not written.
/// - What trackers refuse, and what was parked, is kept apart (`refused/N`), synced before it counts as settled, and never
///   removed. At its limit a pipeline with a journal holds the tracker's cursor before it.
///
/// Each process has a limit, a quarter of which is for the ring. Errors of the quarantine are never reported to a sender.
public final class Quarantine: Sendable {
    /// The default limit of each process's parts together: 1 GiB.
    public static let defaultCapacityInBytes = 1 << 30
    /// The most bytes of verdicts that were handed over and are not written yet: 16 MiB.
    package static let handoverCapacityInBytes = 16 << 20

    /// `nil` where nothing is to be kept, like `refusals`.
    private let ring: VerdictRing?
    private let refusals: RefusalJournal?
    private let handover: Mutex<VerdictHandover>
    private let nextDrain = Atomic<UInt64>(0)
    private let counts = Mutex(Counts())
    private let now: @Sendable () -> Timestamp
    /// What the notices in the log go by, whatever the wall clock does.
    private let clock: PipelineClock
    private let logger: Logger
    private let metrics = QuarantineMetrics()

    private struct Counts {
        var statistics = QuarantineStatistics()
        var lossNotice = SparseNotice()
        var ringNotice = SparseNotice()
    }

    /// Opens the folder, or makes it; `now` tells when an event was put there.
    ///
    /// `capacityInBytes` is the limit of what this process keeps: a quarter is for what senders cause, the rest for what
    /// trackers do not take. A ring of less than 16 MiB may not take the verdicts of a large request. What older versions
    /// kept in the folder does not count.
    ///
    /// - Throws: `QuarantineError` where the folder cannot be written, and where the system refuses a thread.
    public convenience init(
        folder: String,
        capacityInBytes: Int = Quarantine.defaultCapacityInBytes,
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
                logger: logger,
                now: now
            )
        } catch {
            throw QuarantineError(folder: folder, error)
        }
    }

    /// Opens a quarantine whose two journals are in file systems of any kind.
    package init(
        verdicts: any FileSystem,
        refusals: any FileSystem,
        locks: (verdicts: FolderLock, refusals: FolderLock)? = nil,
        capacities: (verdicts: Int, refusals: Int),
        handoverCapacityInBytes: Int = Quarantine.handoverCapacityInBytes,
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
        // Small against the ring, so that a frame always fits once old ones are removed.
        handover = Mutex(
            VerdictHandover(
                capacityInBytes: handoverCapacityInBytes,
                maximumFrameBytes: min(1 << 20, capacities.verdicts / 8)
            )
        )
        self.now = now
        self.clock = PipelineClock(clock)
        self.logger = logger
        for finding in latest.recovery.sentences + kept.recovery.sentences {
            logger.warning("The quarantine was not as it should be: \(finding)")
        }
    }

    private init(discardingWith logger: Logger) {
        ring = nil
        refusals = nil
        handover = Mutex(VerdictHandover(capacityInBytes: 0, maximumFrameBytes: 0))
        now = Timestamp.now
        clock = PipelineClock(ContinuousClock())
        self.logger = logger
    }

    /// A quarantine that keeps nothing: rejected events are counted and logged, and gone.
    ///
    /// For services without a disk.
    public static func discarding(logger: Logger) -> Quarantine {
        Quarantine(discardingWith: logger)
    }

    /// Whether it keeps nothing.
    package var isDiscarding: Bool { refusals == nil }

    /// How many events were kept, and how many were not.
    public var statistics: QuarantineStatistics {
        counts.withLock { $0.statistics }
    }

    // MARK: What senders cause

    /// Keeps events that did not follow the plan of a version; never waits for the disk.
    ///
    /// What is kept takes at most the bytes of the events and `VerdictRecords.maximumOverheadBytes`.
    package func keep(_ rejections: [Rejection], source: String, planVersion: String?) {
        guard !rejections.isEmpty else { return }
        guard let ring else { return countLost(rejections.count, Self.discards) }
        let entry = VerdictHandover.Entry(rejections, source: source, planVersion: planVersion, at: now())
        switch handover.withLock({ $0.add(entry) }) {
        case .waits: break
        // It ends with what was handed over by then, so it needs nobody who waits for it; `drain` does where somebody must.
        case .startsWriting: Task { await writeHandedOver(to: ring) }
        case .full: countLost(rejections.count, "More verdicts came at once than the disk takes.")
        }
    }

    private func writeHandedOver(to ring: VerdictRing) async {
        while let entries = handover.withLock({ $0.next() }) {
            let outcome = await ring.write(entries)
            let events = entries.reduce(0) { $0 + $1.rejections.count }
            if let error = outcome.error { countLost(events, error.message) } else { countKept(events) }
            if outcome.overwritten > 0 { countOverwritten(outcome.overwritten) }
            let drained = handover.withLock { $0.finish(entries) }
            for completion in drained { completion() }
        }
    }

    /// Waits until the verdicts that were handed over so far are written, or lost and counted.
    ///
    /// Returns early when the task is cancelled.
    package func drain() async {
        let number = nextDrain.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                endDrains { $0.drain(number: number) { continuation.resume() } }
                // A cancellation that came before found no drain to end.
                if Task.isCancelled { endDrains { $0.abandonDrain(number: number) } }
            }
        } onCancel: {
            endDrains { $0.abandonDrain(number: number) }
        }
    }

    private func endDrains(_ change: (inout sending VerdictHandover) -> [@Sendable () -> Void]) {
        for completion in handover.withLock({ change(&$0) }) { completion() }
    }

    /// How many events were handed over and are not written yet.
    package var unwrittenEvents: Int { handover.withLock { $0.events } }

    // MARK: What trackers do not take

    /// Keeps events that a tracker refused, or that were parked, each with its reason; they are synced when this returns.
    ///
    /// - Throws: Where they are not kept, and were not to be discarded; nothing is counted then, for who asked has to ask
    ///   again.
    package func keep(
        _ refusals: [(event: TrackedEvent, reason: String)],
        refusedBy tracker: String,
        as verdict: DeliveryVerdict = .refused
    ) async throws(JournalError) {
        var lines = QuarantineLines(at: now())
        for refusal in refusals {
            lines.add(refusal.event, refusedBy: tracker, as: verdict, reason: refusal.reason)
        }
        try await keepForGood(lines)
    }

    /// Keeps events that do not follow the plan any more, for good.
    ///
    /// - Throws: As `keep(_:refusedBy:as:)`.
    package func keepForGood(
        _ rejections: [Rejection],
        source: String,
        planVersion: String?
    ) async throws(JournalError) {
        var lines = QuarantineLines(at: now())
        for rejection in rejections { lines.add(rejection, source: source, planVersion: planVersion) }
        try await keepForGood(lines)
    }

    private func keepForGood(_ lines: QuarantineLines) async throws(JournalError) {
        guard lines.count > 0 else { return }
        guard let refusals else { return countLost(lines.count, Self.discards) }
        try await refusals.commit(lines)
        countKept(lines.count)
    }

    /// Counts events that could not be kept and are gone.
    package func markLost(_ events: Int, _ error: JournalError) {
        countLost(events, error.message)
    }

    /// Counts events of one request beyond what is kept of it.
    package func markLost(_ events: Int) {
        if events > 0 { countLost(events, "A request had more of them than are kept of one request.") }
    }

    // MARK: Counting

    private static let discards = "There is no quarantine."

    private func countKept(_ events: Int) {
        counts.withLock { $0.statistics.kept += events }
        metrics.kept.increment(by: events)
    }

    private func countLost(_ events: Int, _ reason: String) {
        metrics.lost.increment(by: events)
        let unreported = counts.withLock { counts in
            counts.statistics.lost += events
            return counts.lossNotice.add(events, now: clock.now())
        }
        guard let unreported else { return }
        logger.error("Rejected events were not kept.", metadata: ["events": "\(unreported)", "reason": "\(reason)"])
    }

    private func countOverwritten(_ events: Int) {
        metrics.overwritten.increment(by: events)
        let unreported = counts.withLock { counts in
            counts.statistics.overwritten += events
            return counts.ringNotice.add(events, now: clock.now())
        }
        guard let unreported else { return }
        logger.warning(
            "The quarantine is at its limit for what senders cause; the oldest events were removed for newer ones.",
            metadata: ["events": "\(unreported)"]
        )
    }
}

/// How many events a quarantine has dealt with since it was opened.
public struct QuarantineStatistics: Sendable, Hashable {
    /// Events that were written.
    public var kept = 0
    /// Events that were not, because of the limit, an error of the disk, or too many at once.
    public var lost = 0
    /// Events that were written, by this process or one before it, and removed at the limit for newer ones.
    public var overwritten = 0

    /// States how many; all are zero at first.
    public init(kept: Int = 0, lost: Int = 0, overwritten: Int = 0) {
        self.kept = kept
        self.lost = lost
        self.overwritten = overwritten
    }
}
