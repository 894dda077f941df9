package import EventModel

/// The last so many ids, to recognise an event that is delivered again.
package struct RecentIDs {
    private let capacity: Int
    private var known: Set<EventID> = []
    /// In the order of arrival, from `oldest` on and around.
    private var ring: [EventID] = []
    private var oldest = 0

    /// Knows none yet, and later at most `capacity`.
    package init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The ids, the newest at the end.
    package var ids: [EventID] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Notes an id, for which the oldest makes room; false where it is known already.
    package mutating func insert(_ id: EventID) -> Bool {
        guard known.insert(id).inserted else { return false }
        if ring.count < capacity {
            ring.append(id)
        } else {
            known.remove(ring[oldest])
            ring[oldest] = id
            oldest = (oldest + 1) % capacity
        }
        return true
    }
}
