public import EventModel
public import EventSchema
public import EventValidation

/// The events that a tracker is asked to deliver in one call, in order; iterate over it to get each `TrackedEvent`.
///
/// An outcome refers to an event by its position in the delivery, from 0 to `count - 1`.
public struct Delivery: Sendable {
    /// The slices of batches that hold the events; none of them is empty.
    public let slices: [EventSlice]
    /// The number of events.
    public let count: Int
    /// The size of the events as canonical lines, in bytes, newlines included.
    public let byteCount: Int
    /// The tracker's checkpoint once all events are delivered; `nil` without a journal, and for a part of a delivery.
    public let checkpoint: Checkpoint?
    /// The journal that holds the events; `nil` without one.
    public let journal: JournalID?

    /// Makes a delivery of slices.
    public init(_ slices: [EventSlice], checkpoint: Checkpoint? = nil) {
        self.init(slices, checkpoint: checkpoint, journal: checkpoint?.journal)
    }

    private init(_ slices: [EventSlice], checkpoint: Checkpoint?, journal: JournalID?) {
        self.slices = slices
        self.checkpoint = checkpoint
        self.journal = journal
        count = slices.reduce(0) { $0 + $1.count }
        byteCount = slices.reduce(0) { $0 + $1.byteCount }
    }

    /// The part of the delivery with only the events at the given positions, which must be ascending.
    ///
    /// It has the journal, and no checkpoint, because the checkpoint is that of the whole delivery.
    public func selecting(_ positions: some Sequence<Int>) -> Delivery {
        var selected: [EventSlice] = []
        var sliceIndex = 0
        var sliceStart = 0
        // Adjacent events that are not appended yet, as indexes in the slice.
        var run = 0..<0
        for position in positions {
            while sliceIndex < slices.count, position >= sliceStart + slices[sliceIndex].count {
                if !run.isEmpty { selected.append(slices[sliceIndex][run]) }
                run = 0..<0
                sliceStart += slices[sliceIndex].count
                sliceIndex += 1
            }
            guard sliceIndex < slices.count else { break }
            let place = position - sliceStart
            if place == run.upperBound, !run.isEmpty {
                run = run.lowerBound..<place + 1
            } else {
                if !run.isEmpty { selected.append(slices[sliceIndex][run]) }
                run = place..<place + 1
            }
        }
        if !run.isEmpty, sliceIndex < slices.count { selected.append(slices[sliceIndex][run]) }
        return Delivery(selected, checkpoint: nil, journal: journal)
    }

    /// These events followed by those of more slices, which end before a sequence number of the journal.
    package func appending(_ more: [EventSlice], to nextSequence: UInt64) -> Delivery {
        Delivery(
            slices + more,
            checkpoint: checkpoint.map { Checkpoint(journal: $0.journal, nextSequence: nextSequence) }
        )
    }

    /// The name of the event at a position.
    package func name(at position: Int) -> String {
        selecting([position]).first { _ in true }.map(\.name) ?? ""
    }

    /// The positions of the events, grouped by name in the order of first appearance.
    package func positionsByName() -> [(name: String, positions: [Int])] {
        positionsByName(of: 0..<count)
    }

    /// The given positions, ascending, grouped by the names of their events in the order of first appearance.
    package func positionsByName(of positions: some Sequence<Int>) -> [(name: String, positions: [Int])] {
        var groups: [(name: String, positions: [Int])] = []
        var places: [String: Int] = [:]
        for (position, event) in zip(positions, selecting(positions)) {
            let name = event.name
            if let place = places[name] {
                groups[place].positions.append(position)
            } else {
                places[name] = groups.count
                groups.append((name, [position]))
            }
        }
        return groups
    }
}

extension Delivery: Sequence {
    /// Iterates over the events in order of their positions.
    public struct Iterator: IteratorProtocol {
        private let slices: [EventSlice]
        private var sliceIndex = 0
        private var position = 0

        init(_ slices: [EventSlice]) {
            self.slices = slices
        }

        /// The next event, or `nil` after the last.
        public mutating func next() -> TrackedEvent? {
            while sliceIndex < slices.count {
                let slice = slices[sliceIndex]
                if position < slice.count {
                    defer { position += 1 }
                    return TrackedEvent(batch: slice.batch, index: slice.batchIndex(at: position))
                }
                sliceIndex += 1
                position = 0
            }
            return nil
        }
    }

    /// Iterates over the events in order of their positions.
    public func makeIterator() -> Iterator { Iterator(slices) }

    /// The number of events.
    public var underestimatedCount: Int { count }
}

/// One event in a delivery.
public struct TrackedEvent: Sendable {
    /// The batch that holds it.
    public let batch: EventBatch
    /// Its index in that batch.
    public let index: Int

    /// Makes a reference to one event of a batch.
    public init(batch: EventBatch, index: Int) {
        self.batch = batch
        self.index = index
    }

    /// The event's id, its idempotency key: the same each time it is delivered.
    public var id: EventID { batch.entries[index].id }
    /// The time when it happened.
    public var time: Timestamp { batch.entries[index].time }
    /// Its definition in the plan.
    public var definition: EventDefinition { batch.catalog.definitions[Int(batch.entries[index].definitionIndex)] }
    /// Its name, as senders write it.
    public var name: String { definition.name }

    /// A copy of its canonical JSON, without a newline.
    public var json: String {
        String(decoding: batch.line(at: index), as: UTF8.self)
    }
}
