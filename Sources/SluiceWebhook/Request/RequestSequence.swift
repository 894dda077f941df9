package import TrackerKit

/// Which events of a delivery are sent in one request, one request after another, and what became of them: a value.
///
/// Requests that the receiver does not accept because of their events or their size are halved, until an event alone is refused. The first
/// failure that is not about the events ends the sequence.
package struct RequestSequence: Sendable {
    /// The positions that are still to be sent: the last element is next.
    private var pending: [ArraySlice<Int>]
    package private(set) var refusals: [DeliveryOutcome.Refusal] = []
    package private(set) var failure: TrackerError?
    /// The size of each event of the delivery, in bytes; only a receiver with a limit needs them.
    private lazy var sizes = measure()
    private let measure: @Sendable () -> [Int]
    /// The maximum number of events in a request.
    private let maximumEvents: Int
    /// The receiver's limit in bytes, as far as its answers show it: half the size of the smallest request that was too large.
    package private(set) var limitInBytes: Int

    /// Sends these positions, ascending, with at most `maximumEvents` and `limitInBytes` in a request; a larger event is sent alone.
    package init(
        _ positions: [Int],
        sizes: @escaping @autoclosure @Sendable () -> [Int],
        maximumEvents: Int,
        limitInBytes: Int
    ) {
        measure = sizes
        self.maximumEvents = maximumEvents
        self.limitInBytes = limitInBytes
        pending = positions.isEmpty ? [] : [positions[...]]
    }

    /// The positions in the next request; `nil` if there is none.
    package mutating func next() -> ArraySlice<Int>? {
        guard failure == nil, let part = pending.popLast() else { return nil }
        let count = countWithinLimits(part)
        if count < part.count { pending.append(part.dropFirst(count)) }
        return part.prefix(count)
    }

    private mutating func countWithinLimits(_ part: ArraySlice<Int>) -> Int {
        let most = min(part.count, maximumEvents)
        if limitInBytes == .max { return most }
        var bytes = sizes[part[part.startIndex]]
        var count = 1
        while count < most {
            bytes += sizes[part[part.startIndex + count]]
            guard bytes <= limitInBytes else { break }
            count += 1
        }
        return count
    }

    /// Notes the verdict on a request.
    package mutating func note(_ verdict: AnswerVerdict, on part: ArraySlice<Int>) {
        switch verdict {
        case .delivered: break
        case .partly(let refused):
            refusals += refused.map { .init(position: part[part.startIndex + $0.position], reason: $0.reason) }
        case .refused(let reason):
            halve(part, reason)
        case .tooLarge(let reason):
            if part.count > 1 {
                let sizes = sizes
                limitInBytes = min(limitInBytes, part.reduce(0) { $0 + sizes[$1] } / 2)
            }
            halve(part, reason)
        case .retry(let error, _):
            pending.append(part)
            failure = error
        }
    }

    /// The limit after a delivery: what the sequences found; without a request that was too large, an eighth more than before, because
    /// that request may have been too large for another reason.
    package static func limit(after sequences: [RequestSequence], from limit: Int) -> Int {
        let found = sequences.map(\.limitInBytes).min() ?? limit
        return found < limit || limit >= largestKnownLimit ? found : min(limit + limit / 8 + 1, largestKnownLimit)
    }

    /// No delivery is as large, so a larger limit needs no notice.
    private static let largestKnownLimit = 1 << 40

    /// What became of the events.
    ///
    /// Positions that were not sent are among those to retry.
    package var outcome: (refusals: [DeliveryOutcome.Refusal], retried: [Int]) {
        (refusals, pending.reversed().flatMap { $0 })
    }

    private mutating func halve(_ part: ArraySlice<Int>, _ reason: String) {
        if part.count == 1 { return refusals.append(.init(position: part[part.startIndex], reason: reason)) }
        let half = (part.count + 1) / 2
        pending.append(part.dropFirst(half))
        pending.append(part.prefix(half))
    }
}
