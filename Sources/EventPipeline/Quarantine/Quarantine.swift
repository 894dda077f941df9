public import EventModel
package import Journal
public import Logging
import Metrics
import Synchronization

/// Where rejected events are kept, with the reason, until the plan or the event is fixed.
///
/// A folder of journals, in the frames of `Journal`: each process that writes has two to itself, so several may share the
/// folder. An event is one JSON object on one line (`QuarantineLine`). Files are made with mode 0600, since events hold
/// what customers did. What did not follow the plan is written when the sender is answered, by a thread that may not wait
/// for a disk, and survives the end of the process; what a tracker refused is synced, by a thread of its own.
///
/// There is a limit for each process, of which what did not follow the plan may take three quarters. What goes beyond, and
/// what the disk refuses, is counted and logged, not kept; a sender never sees an error of the quarantine. A pipeline with a
/// journal holds its tracker's cursor before events that could not be kept.
public final class Quarantine: Sendable {
    /// The limit of each process's part unless another is stated: 1 GiB.
    public static let defaultCapacityInBytes = 1 << 30

    private let store: Mutex<Store>
    /// `nil` where nothing is to be kept.
    private let refusals: DurableQuarantinePart?
    /// `nil` where nothing is to be kept.
    private let room: QuarantineRoom?
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let metrics = QuarantineMetrics()

    /// What the lock guards.
    fileprivate struct Store: ~Copyable {
        /// Writes verdicts; `nil` where nothing is to be kept.
        var writer: JournalWriter?
        var statistics = QuarantineStatistics()
        var notice = SparseNotice()
    }

    /// Opens the folder, or makes it; `now` tells when an event was put there.
    ///
    /// - Throws: `QuarantineError` where the folder cannot be written, and where the system refuses a thread.
    public convenience init(
        folder: String,
        capacityInBytes: Int = Quarantine.defaultCapacityInBytes,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(QuarantineError) {
        do throws(JournalError) {
            let (verdicts, verdictsLock) = try QuarantineFolder.claimPart(of: folder)
            let (refusals, refusalsLock) = try QuarantineFolder.claimPart(of: folder)
            try self.init(
                verdicts: verdicts,
                refusals: refusals,
                locks: (verdictsLock, refusalsLock),
                capacityInBytes: capacityInBytes,
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
        capacityInBytes: Int,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp
    ) throws(JournalError) {
        let durable = try Journal(
            refusals,
            lock: locks?.refusals,
            configuration: QuarantineFolder.configuration(.fsync, capacityInBytes: capacityInBytes),
            now: now().microseconds
        )
        let part = try DurableQuarantinePart(durable)
        let prompt = try Journal(
            DeferredFolderSync(files: verdicts, part: part),
            lock: locks?.verdicts,
            configuration: QuarantineFolder.configuration(.none, capacityInBytes: capacityInBytes),
            now: now().microseconds
        )
        store = Mutex(Store(writer: JournalWriter(prompt)))
        self.refusals = part
        room = QuarantineRoom(verdicts: prompt, refusals: durable, capacityInBytes: capacityInBytes)
        self.now = now
        self.logger = logger
        for finding in prompt.recovery.sentences + durable.recovery.sentences {
            logger.warning("The quarantine was not as it should be: \(finding)")
        }
    }

    private init(discardingWith logger: Logger) {
        store = Mutex(Store(writer: nil))
        refusals = nil
        room = nil
        now = Timestamp.now
        self.logger = logger
    }

    deinit {
        let now = now().microseconds
        // What is not ended well is found whole at the next opening, too.
        store.withLock { store in try? store.writer.take()?.close(now: now) }
    }

    /// A quarantine that keeps nothing: rejected events are counted and logged, and gone.
    ///
    /// For services without a disk.
    public static func discarding(logger: Logger) -> Quarantine {
        Quarantine(discardingWith: logger)
    }

    /// How many events were kept, and how many were not.
    public var statistics: QuarantineStatistics {
        store.withLock { $0.statistics }
    }

    /// Keeps events that did not follow the plan of a version.
    package func keep(_ rejections: [Rejection], source: String, planVersion: String?) {
        guard !rejections.isEmpty else { return }
        let time = now()
        var lines = QuarantineLines(at: time)
        for rejection in rejections { lines.add(rejection, source: source, planVersion: planVersion) }
        count(append(lines), lines.count)
    }

    /// Keeps events that a tracker refused, each with its reason, for good.
    ///
    /// - Throws: Where they are not kept, and were not to be discarded; nothing is counted then, for who asked has to ask
    ///   again.
    package func keep(
        _ refusals: [(event: TrackedEvent, reason: String)],
        refusedBy tracker: String
    ) async throws(JournalError) {
        var lines = QuarantineLines(at: now())
        for refusal in refusals { lines.add(refusal.event, refusedBy: tracker, reason: refusal.reason) }
        try await keepForGood(lines)
    }

    /// Keeps events that do not follow the plan any more, for good.
    ///
    /// - Throws: As `keep(_:refusedBy:)`.
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
        guard let refusals else { return count(.discarded, lines.count) }
        try room?.checkRefusals(lines)
        try await refusals.commit(lines)
        count(.kept, lines.count)
    }

    /// Counts events that could not be kept and are gone.
    package func lose(_ events: Int, _ error: JournalError) {
        count(.failed(error), events)
    }

    /// What became of some lines.
    private enum Outcome {
        case kept
        case discarded
        case failed(JournalError)
    }

    private func append(_ lines: QuarantineLines) -> Outcome {
        store.withLock { store in
            guard store.writer != nil else { return .discarded }
            do throws(JournalError) {
                try room?.checkVerdicts(lines)
                _ = try store.writer?.commit(lines: lines.bytes, count: lines.count, now: lines.time.microseconds)
                return .kept
            } catch {
                return .failed(error)
            }
        }
    }

    private func count(_ outcome: Outcome, _ events: Int) {
        let reason: String
        switch outcome {
        case .kept:
            store.withLock { $0.statistics.kept += events }
            return metrics.kept.increment(by: events)
        case .discarded: reason = "There is no quarantine."
        case .failed(let error): reason = error.message
        }
        metrics.lost.increment(by: events)
        let unreported = store.withLock { store in
            store.statistics.lost += events
            return store.notice.add(events, now: Duration.microseconds(now().microseconds))
        }
        guard let unreported else { return }
        logger.error("Rejected events were not kept.", metadata: ["events": "\(unreported)", "reason": "\(reason)"])
    }
}

/// How many events a quarantine has dealt with since it was opened.
public struct QuarantineStatistics: Sendable, Hashable {
    /// Events that were written.
    public var kept = 0
    /// Events that were not, because of the limit or an error of the disk.
    public var lost = 0

    /// States how many; both are zero at first.
    public init(kept: Int = 0, lost: Int = 0) {
        self.kept = kept
        self.lost = lost
    }
}
