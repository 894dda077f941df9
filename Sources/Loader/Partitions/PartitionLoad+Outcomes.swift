package import TrackerKit

/// A record as far as the decisions about a partition need it.
package protocol LoadableRecord: Sendable {
    var offset: Int64 { get }
    var byteCount: Int { get }
    var note: RecordNote { get }
    /// The same record in memory of its own.
    var detached: Self { get }
}

extension PartitionLoad {
    /// The outcome of a claim or a renewal.
    package enum ClaimOutcome: Sendable {
        case granted(epoch: Int64, StoredPosition)
        /// Another loader has claimed the partition since; only for a renewal.
        case superseded
        case failed
    }

    /// The outcome of a comparison.
    package enum Comparison: Sendable {
        case matches
        /// Kafka does not have what the position refers to; with accepted loss, loading continues at `restart`.
        case differs(Halt, restart: Int64)
        case failed
    }
}

/// The outcome of a batch.
package enum LoadOutcome: Sendable {
    /// The records before `end` are committed; `broken` are the parts of the destination that accept nothing, whose events were
    /// refused.
    ///
    /// If `wait` is not `nil`, the record at `end` may be valid under a plan that this loader does not have; it is tried again
    /// after this time. It may be the batch's first one, and then nothing is committed.
    case committed(end: Int64, broken: Set<String> = [], wait: Duration? = nil)
    /// The stored position or epoch is another one, so nothing is committed.
    case superseded
    /// It is unknown whether the batch is committed.
    case unknown
    /// These parts of the destination accept nothing, so nothing is committed. If it does not accept others either, it may be
    /// unavailable.
    case broken(Set<String>, acceptsOthers: Bool)
    /// There was not enough time, so nothing is committed; a smaller batch helps.
    case tooLarge
    /// The destination would keep more refused records than it may, so nothing is committed; a smaller batch may help.
    case refusedFull(limit: Int)
    /// The destination did not answer in time, so nothing is committed; a smaller batch may help.
    case timedOut
    /// Nothing is committed, and the batch can be tried again.
    case failed
}

extension LoadOutcome {
    /// Whether the same is tried again after a pause.
    var isFailure: Bool {
        switch self {
        case .committed, .superseded, .unknown, .tooLarge: false
        case .broken, .refusedFull, .timedOut, .failed: true
        }
    }
}
