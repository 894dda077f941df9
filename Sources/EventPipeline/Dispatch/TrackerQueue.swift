import DequeModule
import EventValidation
import TrackerKit

/// The bounded queue of one tracker: slices in the order in which they were accepted, and what they take.
///
/// Events are counted by position: the first event ever queued has position 0. Capacity is occupied from the moment an
/// event is queued until its delivery is settled.
package struct TrackerQueue: Sendable {
    private let limits: Pipeline.Queue
    private let delivery: Pipeline.DeliveryLimits
    private var slices: Deque<EventSlice> = []
    /// What is queued and not being delivered.
    package private(set) var queuedEvents = 0
    private var queuedBytes = 0
    /// What is queued or being delivered.
    package private(set) var occupiedEvents = 0
    package private(set) var occupiedBytes = 0
    /// The position that the next event gets.
    package private(set) var tail = 0
    /// From which number on events are to be read from the journal, because they are not here.
    package private(set) var spilledFrom: UInt64?
    /// How many events those are, as far as they came while the pipeline ran.
    package private(set) var spilledEvents = 0
    /// How many events besides those were counted before, and are to be read again.
    private var respilledEvents = 0
    /// How many of those are not in the journal any more; their positions are passed with the next reading.
    private var lostEvents = 0
    /// When the oldest event that is not being delivered arrived, or before.
    private var oldestArrival: Duration = .zero
    /// Events before this position do not linger.
    package var urgentBefore = 0

    package init(limits: Pipeline.Queue, delivery: Pipeline.DeliveryLimits) {
        self.limits = limits
        self.delivery = delivery
    }

    /// Whether nothing waits to be delivered.
    package var isEmpty: Bool { queuedEvents == 0 }
    /// The position of the first event that is not being delivered.
    package var head: Int { tail - spilledEvents - respilledEvents - queuedEvents }
    /// What it does with events for which it has no room.
    package var fullPolicy: FullPolicy { limits.fullPolicy }

    /// Whether there is room; in an empty queue there is room for anything.
    @inline(__always)
    package func hasRoom(for slice: EventSlice) -> Bool {
        occupiedEvents == 0
            || occupiedEvents + slice.count <= limits.capacityInEvents
                && occupiedBytes + slice.byteCount <= limits.capacityInBytes
    }

    /// Whether there is no room for a single event more.
    var isFull: Bool {
        occupiedEvents >= limits.capacityInEvents || occupiedBytes >= limits.capacityInBytes
    }

    /// Whether a delivery is within the queue's limits.
    func mayHold(_ delivery: Delivery) -> Bool {
        delivery.count < limits.capacityInEvents && delivery.byteCount < limits.capacityInBytes
    }

    /// Keeps room for a slice that will come.
    mutating func reserve(_ slice: EventSlice) {
        occupiedEvents += slice.count
        occupiedBytes += slice.byteCount
    }

    /// Puts a slice at the end, whether or not there is room.
    mutating func append(_ slice: EventSlice, now: () -> Duration) {
        if slices.isEmpty { oldestArrival = now() }
        slices.append(slice)
        queuedEvents += slice.count
        queuedBytes += slice.byteCount
        occupiedEvents += slice.count
        occupiedBytes += slice.byteCount
        tail += slice.count
    }

    /// Leaves a slice, and all that come after it, to the journal.
    mutating func spill(_ slice: EventSlice) {
        if spilledFrom == nil { spilledFrom = slice.sequences.lowerBound }
        spilledEvents += slice.count
        tail += slice.count
    }

    /// Leaves everything from a number on to the journal; for what was there before the pipeline.
    mutating func spill(from sequence: UInt64) {
        spilledFrom = sequence
    }

    /// Leaves to the journal what is here, and what was being delivered and is not settled, from a number on.
    mutating func spillAll(_ unsettled: Int, of inFlight: TrackerState.InFlight, from sequence: UInt64) {
        release(events: inFlight.events + queuedEvents, bytes: inFlight.bytes + queuedBytes)
        respilledEvents += unsettled
        spilledEvents += queuedEvents
        slices = []
        queuedEvents = 0
        queuedBytes = 0
        spilledFrom = sequence
    }

    /// Notes that events came out of the journal, which is read up to a number: `events` that were left to it while the
    /// pipeline ran, and others that it had before.
    ///
    /// With the last of them slices come in directly again. Returns how many nobody knew of, and how many are missing.
    mutating func unspill(
        events: Int,
        unforeseen: Int,
        to sequence: UInt64,
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
            return (unforeseen, 0)
        }
        let missing = spilledEvents + respilledEvents
        spilledEvents = 0
        respilledEvents = 0
        spilledFrom = nil
        return (unforeseen, missing)
    }

    /// Notes that events which were left to the journal were removed from it; returns how many nobody knew of.
    mutating func markLost(_ events: Int) -> Int {
        let foreseen = min(events, spilledEvents - lostEvents)
        lostEvents += foreseen
        return events - foreseen
    }

    /// Whether there would be room if everything that is not being delivered were forgotten.
    func canMakeRoom(for slice: EventSlice) -> Bool {
        let (events, bytes) = (occupiedEvents - queuedEvents, occupiedBytes - queuedBytes)
        return events == 0
            || events + slice.count <= limits.capacityInEvents && bytes + slice.byteCount <= limits.capacityInBytes
    }

    /// Forgets the oldest slices that are not being delivered until there is room; returns how many events that were.
    mutating func dropOldest(toFit slice: EventSlice) -> Int {
        var dropped = 0
        while !hasRoom(for: slice), let oldest = removeFirst() {
            release(events: oldest.count, bytes: oldest.byteCount)
            dropped += oldest.count
        }
        return dropped
    }

    /// Gives capacity back, when a delivery is settled.
    mutating func release(events: Int, bytes: Int) {
        occupiedEvents -= events
        occupiedBytes -= bytes
    }

    private mutating func removeFirst() -> EventSlice? {
        guard let slice = slices.popFirst() else { return nil }
        queuedEvents -= slice.count
        queuedBytes -= slice.byteCount
        return slice
    }
}

extension TrackerQueue {
    /// Whether there is enough for a delivery, so that waiting longer would not make a larger one.
    ///
    /// Half of the queue is enough, too: it fills again meanwhile, while a full one would linger for nothing.
    var fillsDelivery: Bool {
        queuedEvents >= min(delivery.maximumEvents, (limits.capacityInEvents + 1) / 2)
            || queuedBytes >= min(delivery.maximumBytes, (limits.capacityInBytes + 1) / 2)
    }

    /// Until when the queued events may wait for company; `nil` where they may not.
    var lingersUntil: Duration? {
        fillsDelivery || head < urgentBefore ? nil : oldestArrival + delivery.linger
    }

    /// Takes the slices of the next delivery: as many whole ones as its limits allow, and at least one event.
    mutating func take() -> [EventSlice] {
        var taken: [EventSlice] = []
        taken.reserveCapacity(min(slices.count, delivery.maximumEvents))
        var events = 0
        var bytes = 0
        while let next = slices.first {
            events += next.count
            bytes += next.byteCount
            let fits = events <= delivery.maximumEvents && bytes <= delivery.maximumBytes
            guard fits || taken.isEmpty else { break }
            if !fits { splitFirst() }
            guard let slice = removeFirst() else { break }
            taken.append(slice)
            if !fits { break }
        }
        return taken
    }

    /// Cuts the first slice in two where it exceeds a delivery; one event is never cut.
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
