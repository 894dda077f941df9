package import EventModel

/// The most recent ids, to recognise an event that is delivered again.
package struct RecentIDs {
    private let capacity: Int
    private var known: Set<EventID> = []
    /// A ring buffer, whose oldest id is at `oldest`.
    private var ring: [EventID] = []
    private var oldest = 0

    /// Creates an empty set that holds at most `capacity` ids.
    package init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The ids, from oldest to newest.
    package var ids: [EventID] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Inserts an id, in place of the oldest one if the set is full; returns false if it is already there.
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
