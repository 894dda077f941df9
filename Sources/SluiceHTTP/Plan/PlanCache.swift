package import EventValidation

/// Which events a document describes.
package enum PlanScope: Sendable, Hashable {
    /// All events of the plan.
    case all
    /// The events that a key may send.
    case only(EventSet)
}

/// The documents that are kept, the one that is being rendered, and who waits for them.
///
/// One document is rendered at a time, and each scope once, however many senders ask for it. The documents that were used
/// longest ago are discarded when there are too many.
package struct PlanCache<Waiter> {
    /// What a request for a document leads to.
    package enum Decision {
        /// It exists, or cannot be served.
        case known(PlanOutcome)
        /// The sender waits for it, and the caller has to render it.
        case render
        /// The sender waits for it.
        case wait
    }

    private struct Entry {
        let outcome: PlanOutcome
        let byteCount: Int
        var lastUse: UInt64
    }

    /// The maximum number of documents that are kept.
    package static var capacityInDocuments: Int { 64 }

    private let capacityInBytes: Int
    private var entries: [PlanScope: Entry] = [:]
    private var keptBytes = 0
    private var uses: UInt64 = 0
    private var waiters: [PlanScope: [Waiter]] = [:]
    /// The scopes whose rendering has not begun; the one that is being rendered is not among them.
    private var queue: [PlanScope] = []
    private var isRendering = false

    /// Makes a cache that keeps at most this many bytes of documents, but always the last one.
    package init(capacityInBytes: Int) {
        self.capacityInBytes = capacityInBytes
    }

    /// Finds a document, or notes who waits for it.
    package mutating func request(_ scope: PlanScope, _ waiter: @autoclosure () -> Waiter) -> Decision {
        if let entry = entries[scope] {
            uses += 1
            entries[scope]?.lastUse = uses
            return .known(entry.outcome)
        }
        let isNew = waiters[scope] == nil
        waiters[scope, default: []].append(waiter())
        guard isNew else { return .wait }
        guard isRendering else {
            isRendering = true
            return .render
        }
        queue.append(scope)
        return .wait
    }

    /// Keeps a document that was rendered.
    ///
    /// - Returns: Who waited for it, and which document is to be rendered next, if any.
    package mutating func complete(_ scope: PlanScope, _ outcome: PlanOutcome) -> (waiters: [Waiter], next: PlanScope?)
    {
        uses += 1
        let byteCount = (try? outcome.get().body.count) ?? 0
        entries[scope] = Entry(outcome: outcome, byteCount: byteCount, lastUse: uses)
        keptBytes += byteCount
        while entries.count > 1, entries.count > Self.capacityInDocuments || keptBytes > capacityInBytes {
            guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { break }
            entries[oldest.key] = nil
            keptBytes -= oldest.value.byteCount
        }
        let next = queue.isEmpty ? nil : queue.removeFirst()
        isRendering = next != nil
        return (waiters.removeValue(forKey: scope) ?? [], next)
    }
}
