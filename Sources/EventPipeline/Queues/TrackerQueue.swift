import DequeModule
package import EventValidation
package import TrackerKit

/// The bounded queue of one tracker: slices in the order in which they were accepted, and the capacity they occupy.
///
/// Events are counted by position (`QueueMark`). An event occupies capacity from the moment it is queued until its delivery is
/// settled.
package struct TrackerQueue: Sendable {
    /// A queue whose limits are reduced below what it holds admits nothing until it has drained.
    private var limits: Pipeline.Queue
    /// The limits of the next delivery.
    private(set) var delivery: DeliveryLimits
    private var slices: Deque<EventSlice> = []
    /// The events that are queued and not being delivered.
    package private(set) var queuedEvents = 0
    private var queuedBytes = 0
    /// The events that are queued or being delivered.
    package private(set) var occupiedEvents = 0
    package private(set) var occupiedBytes = 0
    /// The position that the next event gets.
    package private(set) var tail = 0
    /// The number from which the tracker must read the journal, because later events are not in memory; `nil` if all are.
    package private(set) var spilledFrom: UInt64?
    /// How many of the events left to the journal were accepted while the pipeline ran.
    package private(set) var spilledEvents = 0
    /// How many further events were counted before and have to be read again.
    private(set) var respilledEvents = 0
    /// How many of the spilled events are no longer in the journal; the next reading skips their positions.
    private var lostEvents = 0
    /// When the queue last ceased to be empty.
    private var filledAt: Duration = .zero
    private var arrivals = ArrivalTimes()
    /// When the first event that was left to the journal was committed, or earlier; `nil` if there is none, or it is unknown.
    private(set) var spilledSince: Duration?
    /// Events before this position do not linger.
    package var urgentBefore = 0

    package init(limits: Pipeline.Queue, delivery: DeliveryLimits) {
        self.limits = limits
        self.delivery = delivery
    }

    /// Replaces the capacities and the limits of deliveries; the policy stays.
    mutating func changeLimits(to limits: Pipeline.Queue, delivery: DeliveryLimits) {
        self.limits.capacityInEvents = limits.capacityInEvents
        self.limits.capacityInBytes = limits.capacityInBytes
        self.delivery = delivery
    }

    /// Whether nothing waits to be delivered.
    package var isEmpty: Bool { queuedEvents == 0 }
    /// The position of the first event that is not being delivered.
    package var head: Int { tail - spilledEvents - respilledEvents - queuedEvents }
    /// What the queue does with events for which it has no room.
    package var fullPolicy: FullPolicy { limits.fullPolicy }

    /// Whether there is room for a slice; an empty queue has room for any slice.
    @inline(__always)
    package func hasRoom(for slice: EventSlice) -> Bool {
        occupiedEvents == 0
            || occupiedEvents + slice.count <= limits.capacityInEvents
                && occupiedBytes + slice.byteCount <= limits.capacityInBytes
    }

    /// Whether there is no room for another event.
    var isFull: Bool {
        occupiedEvents >= limits.capacityInEvents || occupiedBytes >= limits.capacityInBytes
    }

    /// Whether a delivery is within the queue's limits.
    func mayHold(_ delivery: Delivery) -> Bool {
        delivery.count < limits.capacityInEvents && delivery.byteCount < limits.capacityInBytes
    }

    /// Reserves room for a slice that is being committed.
    mutating func reserve(_ slice: EventSlice) {
        occupiedEvents += slice.count
        occupiedBytes += slice.byteCount
    }

    /// Appends a slice, whether or not there is room.
    mutating func append(_ slice: EventSlice, now: () -> Duration) {
        if slices.isEmpty {
            let now = now()
            filledAt = now
            arrivals.forgetAll()
            arrivals.note(tail, now: { now })
        } else {
            arrivals.note(tail, now: now)
        }
        slices.append(slice)
        queuedEvents += slice.count
        queuedBytes += slice.byteCount
        occupiedEvents += slice.count
        occupiedBytes += slice.byteCount
        tail += slice.count
    }

    /// Leaves a slice and all later ones to the journal.
    mutating func spill(_ slice: EventSlice, now: () -> Duration) {
        if spilledFrom == nil { spilledFrom = slice.sequences.lowerBound }
        // If an earlier run left events before it, `noteCommit` will say when the first of them was accepted.
        if spilledSince == nil { spilledSince = now() }
        spilledEvents += slice.count
        tail += slice.count
    }

    /// Leaves everything from a number on to the journal: events that were in it before the pipeline was made.
    mutating func spill(from sequence: UInt64) {
        spilledFrom = sequence
        spilledSince = nil
    }

    /// Notes when the event with the number `sequence` was committed, if the tracker still has to read from there.
    mutating func noteCommit(of sequence: UInt64, at time: Duration) {
        if spilledFrom == sequence { spilledSince = time }
    }

    /// When the oldest event that is not being delivered was accepted, or earlier; `nil` if there is none, or it is unknown.
    var oldestArrival: Duration? { slices.isEmpty ? spilledSince : arrivals.time(of: head) }

    /// Leaves to the journal all queued events and the unsettled events of a delivery; `sequence` is the number of the first.
    mutating func spillAll(_ unsettled: Int, of inFlight: TrackerState.InFlight, from sequence: UInt64) {
        release(events: inFlight.events + queuedEvents, bytes: inFlight.bytes + queuedBytes)
        respilledEvents += unsettled
        spilledEvents += queuedEvents
        slices = []
        queuedEvents = 0
        queuedBytes = 0
        spilledFrom = sequence
        spilledSince = inFlight.arrival
    }

    /// Records that events were read from the journal, up to the number `sequence`: `events` that spilled while the pipeline ran,
    /// and `unforeseen` ones that were in the journal before.
    ///
    /// `since` is when the last of them was committed. After the last of all, new slices are queued in memory again. Returns how
    /// many events had not been counted, and how many counted ones are missing from the journal.
    mutating func unspill(
        events: Int,
        unforeseen: Int,
        to sequence: UInt64,
        since: Duration?,
        isLast: Bool
    ) -> (unforeseen: Int, missing: Int) {
        let readAgain = min(respilledEvents, unforeseen + events)
        respilledEvents -= readAgain
        let earlier = max(0, unforeseen - readAgain)
        let events = events - max(0, readAgain - unforeseen)
        let foreseen = min(events + lostEvents, spilledEvents)
        let unforeseen = earlier + events + lostEvents - foreseen
        lostEvents = 0
        tail += unforeseen
        spilledEvents -= foreseen
        guard isLast else {
            spilledFrom = sequence
            spilledSince = since ?? spilledSince
            return (unforeseen, 0)
        }
        let missing = spilledEvents + respilledEvents
        spilledEvents = 0
        respilledEvents = 0
        spilledFrom = nil
        spilledSince = nil
        return (unforeseen, missing)
    }

    /// Records that spilled events were removed from the journal; returns how many of them had not been counted.
    mutating func markLost(_ events: Int) -> Int {
        let foreseen = min(events, spilledEvents - lostEvents)
        lostEvents += foreseen
        return events - foreseen
    }

    /// Whether there would be room if all events that are not being delivered were dropped.
    func canMakeRoom(for slice: EventSlice) -> Bool {
        let (events, bytes) = (occupiedEvents - queuedEvents, occupiedBytes - queuedBytes)
        return events == 0
            || events + slice.count <= limits.capacityInEvents && bytes + slice.byteCount <= limits.capacityInBytes
    }

    /// Drops the oldest slices that are not being delivered until there is room; returns the number of dropped events.
    mutating func dropOldest(toFit slice: EventSlice) -> Int {
        var dropped = 0
        while !hasRoom(for: slice), let oldest = removeFirst() {
            release(events: oldest.count, bytes: oldest.byteCount)
            dropped += oldest.count
        }
        return dropped
    }

    /// Releases capacity.
    mutating func release(events: Int, bytes: Int) {
        occupiedEvents -= events
        occupiedBytes -= bytes
    }

    private mutating func removeFirst() -> EventSlice? {
        guard let slice = slices.popFirst() else { return nil }
        queuedEvents -= slice.count
        queuedBytes -= slice.byteCount
        arrivals.forget(before: head)
        return slice
    }
}

extension TrackerQueue {
    /// Whether there are enough events for a delivery, so that lingering would not make it larger.
    ///
    /// Half of the queue's capacity is enough, too: the queue refills during the delivery.
    var fillsDelivery: Bool {
        queuedEvents >= min(delivery.maximumEvents, Self.half(limits.capacityInEvents))
            || queuedBytes >= min(delivery.maximumBytes, Self.half(limits.capacityInBytes))
    }

    /// Half of a capacity, rounded up; a capacity may be as large as `Int.max`.
    private static func half(_ capacity: Int) -> Int { capacity / 2 + capacity % 2 }

    /// Until when the queued events may linger; `nil` if they must not.
    var lingersUntil: Duration? {
        fillsDelivery || head < urgentBefore ? nil : filledAt + delivery.linger
    }

    /// Takes the slices of the next delivery: as many whole ones as its limits allow, and at least one event; besides the events of
    /// another delivery, only those for which there is room.
    mutating func take(besides others: Delivery? = nil) -> [EventSlice] {
        var taken: [EventSlice] = []
        taken.reserveCapacity(min(slices.count, delivery.maximumEvents))
        var events = others?.count ?? 0
        var bytes = others?.byteCount ?? 0
        while let next = slices.first {
            events += next.count
            bytes += next.byteCount
            let fits = events <= delivery.maximumEvents && bytes <= delivery.maximumBytes
            guard fits || taken.isEmpty && others == nil else { break }
            if !fits { splitFirst() }
            guard let slice = removeFirst() else { break }
            taken.append(slice)
            if !fits { break }
        }
        return taken
    }

    /// Cuts the first slice in two if it exceeds a delivery; one event is never cut.
    private mutating func splitFirst() {
        guard let slice = slices.first, slice.count > 1 else { return }
        var events = 0
        var bytes = 0
        while events < min(slice.count, delivery.maximumEvents) {
            bytes += slice.batch.line(at: slice.batchIndex(at: events)).count + 1
            if bytes > delivery.maximumBytes, events > 0 { break }
            events += 1
        }
        guard events < slice.count else { return }
        slices[0] = slice[events..<slice.count]
        slices.prepend(slice[0..<events])
    }
}
