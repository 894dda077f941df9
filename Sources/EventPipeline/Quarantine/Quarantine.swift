public import EventModel
public import Logging
import Metrics
import Synchronization

/// Where rejected events are kept, with the reason, until the plan or the event is fixed.
///
/// A file of one JSON object a line (NDJSON), which `sluice replay` reads again. Lines are appended whole, each with one
/// `write`, so several processes may share a file; it is made with mode 0600, since events hold what customers did.
///
/// The file has a limit. What goes beyond it, and what the disk refuses, is counted and logged, not kept; a sender never
/// sees an error of the quarantine.
public final class Quarantine: Sendable {
    /// The limit of the file unless another is stated: 1 GiB.
    public static let defaultCapacityInBytes = 1 << 30

    private let store: Mutex<Store>
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let metrics = QuarantineMetrics()

    /// What the lock guards.
    fileprivate struct Store: Sendable {
        let file: AppendOnlyFile?
        let capacityInBytes: Int
        var statistics = QuarantineStatistics()
        var notice = SparseNotice()
    }

    /// Opens the file at `path`, or makes it; `now` tells when an event was put there.
    ///
    /// - Throws: `QuarantineError` where the file cannot be opened for writing.
    public init(
        path: String,
        capacityInBytes: Int = Quarantine.defaultCapacityInBytes,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(QuarantineError) {
        store = Mutex(Store(file: try AppendOnlyFile(path: path), capacityInBytes: capacityInBytes))
        self.now = now
        self.logger = logger
    }

    private init(discardingWith logger: Logger) {
        store = Mutex(Store(file: nil, capacityInBytes: 0))
        now = Timestamp.now
        self.logger = logger
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

    /// Keeps events that did not follow the plan.
    package func keep(_ rejections: [Rejection], source: String) {
        let time = now()
        append(rejections.map { QuarantineLine.line(for: $0, source: source, at: time) })
    }

    /// Keeps events that a tracker refused, each with its reason, and syncs: its cursor goes past them next.
    package func keep(_ refusals: [(event: TrackedEvent, reason: String)], refusedBy tracker: String) {
        let time = now()
        append(refusals.map { QuarantineLine.line(for: $0.event, refusedBy: tracker, reason: $0.reason, at: time) })
        sync()
    }

    /// Makes what was kept survive a crash.
    func sync() {
        guard let reason = store.withLock({ $0.file })?.sync() else { return }
        logger.error("The quarantine could not be synced.", metadata: ["reason": "\(reason)"])
    }

    private func append(_ lines: [[UInt8]]) {
        let failure = store.withLock { store in
            store.append(lines, now: Duration.microseconds(now().microseconds))
        }
        metrics.kept.increment(by: lines.count - failure.lost)
        guard failure.lost > 0 else { return }
        metrics.lost.increment(by: failure.lost)
        guard let events = failure.notice else { return }
        logger.error(
            "Rejected events were not kept.",
            metadata: ["events": "\(events)", "reason": "\(failure.reason)"]
        )
    }
}

extension Quarantine.Store {
    /// How many lines could not be kept, why, and how many a line in the log should speak of now.
    fileprivate struct Loss {
        var lost = 0
        var reason = ""
        var notice: Int?
    }

    /// Appends lines as long as there is room; all that are not kept are counted.
    fileprivate mutating func append(_ lines: [[UInt8]], now: Duration) -> Loss {
        var loss = Loss()
        for line in lines {
            if let reason = append(line) {
                loss.lost += 1
                loss.reason = reason
            }
        }
        statistics.kept += lines.count - loss.lost
        statistics.lost += loss.lost
        if loss.lost > 0 { loss.notice = notice.add(loss.lost, now: now) }
        return loss
    }

    /// Appends a line; returns why it could not.
    private func append(_ line: [UInt8]) -> String? {
        guard let file else { return "there is no quarantine file" }
        guard file.size + line.count <= capacityInBytes else {
            return "the quarantine file has reached its limit of \(capacityInBytes) bytes"
        }
        return file.append(line).map { "the quarantine file could not be written: \($0)" }
    }
}

/// How many events a quarantine has dealt with since it was opened.
public struct QuarantineStatistics: Sendable, Hashable {
    /// Events that were written to the file.
    public var kept = 0
    /// Events that were not, because of the limit or an error of the disk.
    public var lost = 0

    /// States how many; both are zero at first.
    public init(kept: Int = 0, lost: Int = 0) {
        self.kept = kept
        self.lost = lost
    }
}
