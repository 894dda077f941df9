package import SluiceKafka
import Synchronization

/// How far a member is, for metrics and commands; readable from any thread.
package final class MemberStatus: Sendable {
    /// A partition that the member has.
    package struct Partition: Sendable {
        /// `nil` before the claim.
        package let epoch: Int64?
        package let next: Int64?
        /// When the oldest record that is not loaded was written, in milliseconds since 1970; `nil` if none has been read.
        package let oldest: Int64?
        package let watermarks: KafkaConsumer.Watermarks?
        package let halt: Halt?

        /// How many records are not loaded.
        package var lag: Int64? {
            guard let next, let watermarks else { return nil }
            return watermarks.lag(behind: next)
        }
    }

    /// Whether the member is in its group.
    package enum Membership: Sendable, Hashable {
        /// It has not joined, or has left.
        case absent
        /// The group has assigned partitions, or none because there are more members than partitions.
        case joined
        /// The group has not answered for this time.
        case waiting(Duration)
    }

    private struct State {
        var membership = Membership.absent
        /// Whether the member has been in its group, even if it is not now.
        var hasEverJoined = false
        var isFailing = false
        var partitions: [Int32: Partition] = [:]
        var loaded = 0
        var refused = 0
    }

    package let tracker: String
    private let state = Mutex(State())
    private let metrics: LoaderMetrics

    package init(tracker: String) {
        self.tracker = tracker
        metrics = LoaderMetrics(tracker: tracker)
    }

    /// Why the member has no partitions; `nil` if it is in its group.
    package var problem: String? {
        state.withLock { state in
            switch state.membership {
            case .joined: return nil
            case .waiting(let time):
                return "its consumer group has assigned no partitions for \(time.components.seconds) s"
            case .absent: break
            }
            if state.hasEverJoined { return "its member has left the consumer group and will join it again" }
            if state.isFailing { return "the tracker cannot start, or Kafka cannot be read; the log says why" }
            return "its member has not joined the consumer group yet"
        }
    }
    package var partitions: [Int32: Partition] { state.withLock { $0.partitions } }
    /// How many records were loaded, and how many were refused and kept.
    package var counts: (loaded: Int, refused: Int) { state.withLock { ($0.loaded, $0.refused) } }

    package func set(_ partitions: [Int32: Partition], _ membership: Membership, isFailing: Bool) {
        state.withLock { state in
            state.partitions = partitions
            state.membership = membership
            if membership == .joined { state.hasEverJoined = true }
            state.isFailing = isFailing
        }
    }

    func count(loaded: Int, refused: Int) {
        state.withLock { state in
            state.loaded += loaded
            state.refused += refused
        }
        metrics.count(loaded: loaded, refused: refused)
    }

    func count(forgotten: Int) {
        metrics.count(forgotten: forgotten)
    }

    func count(skipped: Int) {
        metrics.count(skipped: skipped)
    }

    /// Records the metrics that are known only when somebody asks.
    package func recordGauges(millisecondsSince1970: Int64) {
        let (partitions, isFailing) = state.withLock { ($0.partitions, $0.isFailing) }
        metrics.record(partitions, isFailing: isFailing, now: millisecondsSince1970)
    }
}

extension KafkaConsumer.Watermarks {
    /// The later ends of both, since one of them may be older.
    func merged(with other: Self?) -> Self {
        guard let other else { return self }
        return Self(low: max(low, other.low), high: max(high, other.high))
    }

    /// How many records there are from an offset on.
    package func lag(behind next: Int64) -> Int64 { max(0, high - max(next, low)) }
}
