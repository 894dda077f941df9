import EventPipeline
package import NIOCore
import Synchronization

/// Divides the last fifth of the journal's room among the keys, so that one key cannot take it from the others.
///
/// As long as the events that trackers still need fill less than four fifths of the journal, every batch is admitted. Beyond that, each
/// key may add an equal part of the last fifth, and one batch more; its next batches are refused until there is less again.
package final class JournalShares: Sendable {
    /// How full the journal is.
    package struct Fill: Sendable {
        /// The size of what trackers still need.
        package let neededBytes: Int
        /// The size that the journal may have, by its own limit and by the free space of the disk.
        package let capacityInBytes: Int

        package init(neededBytes: Int, capacityInBytes: Int) {
            self.neededBytes = neededBytes
            self.capacityInBytes = capacityInBytes
        }
    }

    private struct State {
        /// `nil` without a journal, and before it is measured.
        var fill: Fill?
        var measured: NIODeadline?
        /// The bytes that were admitted since then.
        var added = 0
        /// What keys have added to the last fifth.
        var used: [ObjectIdentifier: Part] = [:]
    }

    /// What a key has added.
    private struct Part {
        /// Holds the key's limiter, so that the one of a new key cannot have its identity.
        let key: KeyLimiter
        var bytes = 0
    }

    /// How long a measurement is used; what is admitted in the meantime is added to it.
    private static let pause = TimeAmount.seconds(1)

    private let measure: @Sendable () -> Fill?
    private let state = Mutex(State())

    /// - Parameter measure: Measures the journal; `nil` if there is none.
    package init(measure: @escaping @Sendable () -> Fill?) {
        self.measure = measure
    }

    convenience init(of pipeline: Pipeline) {
        self.init { Fill(pipeline.statistics) }
    }

    /// Counts a batch of a key, unless the key has used its part; returns whether the batch is admitted.
    ///
    /// `keys` is the number of keys that share the journal.
    package func take(_ bytes: Int, of key: KeyLimiter, among keys: Int, now: NIODeadline = .now()) -> Bool {
        measureIfDue(now: now)
        return state.withLock { state in
            guard let fill = state.fill else { return true }
            let limit = fill.capacityInBytes / 5 * 4
            if fill.neededBytes + state.added < limit {
                state.used.removeAll()
            } else {
                var part = state.used[ObjectIdentifier(key)] ?? Part(key: key)
                guard part.bytes < (fill.capacityInBytes - limit) / max(1, keys) else { return false }
                part.bytes += bytes
                state.used[ObjectIdentifier(key)] = part
            }
            state.added += bytes
            return true
        }
    }

    /// Takes back a batch that the pipeline has not accepted.
    package func giveBack(_ bytes: Int, of key: KeyLimiter) {
        state.withLock { state in
            state.added = max(0, state.added - bytes)
            guard let used = state.used[ObjectIdentifier(key)]?.bytes else { return }
            state.used[ObjectIdentifier(key)]?.bytes = max(0, used - bytes)
        }
    }

    private func measureIfDue(now: NIODeadline) {
        let isDue = state.withLock { state in
            if let measured = state.measured, now < measured + Self.pause { return false }
            state.measured = now
            return true
        }
        guard isDue else { return }
        // Not within the lock, because the pipeline has locks of its own.
        let fill = measure()
        state.withLock { state in
            state.fill = fill
            state.added = 0
        }
    }
}

extension JournalShares.Fill {
    /// `nil` without a journal.
    init?(_ statistics: PipelineStatistics) {
        guard let journal = statistics.journal else { return nil }
        let settled = statistics.trackers.map(\.cursor).min() ?? .max
        // Segments that no tracker needs are removed when there is no other room.
        neededBytes = journal.parts.reduce(0) { $0 + ($1.nextSequence > settled ? $1.byteCount : 0) }
        let (capacity, overflow) = journal.byteCount.addingReportingOverflow(journal.roomInBytes)
        capacityInBytes = overflow ? .max : capacity
    }
}
