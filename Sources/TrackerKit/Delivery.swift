public import EventModel
public import EventSchema
public import EventValidation

/// What a tracker is asked to deliver at one time: the events of one or more slices, in their order.
///
/// A position in a delivery, from 0 to `count - 1`, is how an outcome names an event.
public struct Delivery: Sendable {
    /// The slices, none of them empty.
    public let slices: [EventSlice]
    /// How many events there are.
    public let count: Int
    /// How many bytes their lines take, newlines included.
    public let byteCount: Int
    /// How far the tracker has got once all of it is delivered; `nil` without a journal, and for a part of a delivery.
    public let checkpoint: Checkpoint?
    /// The journal that holds the events; `nil` without one.
    public let journal: JournalID?

    /// Puts slices together.
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

    /// Only the events at the given positions, ascending; without the checkpoint, which is that of the whole, and with its
    /// journal.
    public func selecting(_ positions: some Sequence<Int>) -> Delivery {
        var selected: [EventSlice] = []
        var sliceIndex = 0
        var sliceStart = 0
        // Neighbours that are not cut out yet, as places in the slice.
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

    /// These events, and behind them those of more slices, which end before a number of the journal.
    package func appending(_ more: [EventSlice], to nextSequence: UInt64) -> Delivery {
        Delivery(
            slices + more,
            checkpoint: checkpoint.map { Checkpoint(journal: $0.journal, nextSequence: nextSequence) }
        )
    }

    /// The positions of the events of each name; the names in the order in which they first appear.
    package func positionsByName() -> [(name: String, positions: [Int])] {
        positionsByName(of: 0..<count)
    }

    /// Some positions, ascending, by the names of their events; the names in the order in which they first appear.
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
    /// Walks the events in their order; the nth one has position n.
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

    /// Walks the events in their order; the nth one has position n.
    public func makeIterator() -> Iterator { Iterator(slices) }

    /// How many events there are.
    public var underestimatedCount: Int { count }
}

/// One event in a delivery.
public struct TrackedEvent: Sendable {
    /// The batch that holds it.
    public let batch: EventBatch
    /// Its place in that batch.
    public let index: Int

    /// Points at one event of a batch.
    public init(batch: EventBatch, index: Int) {
        self.batch = batch
        self.index = index
    }

    /// Its identity; the same however often it is delivered.
    public var id: EventID { batch.entries[index].id }
    /// When it happened.
    public var time: Timestamp { batch.entries[index].time }
    /// What the plan says of it.
    public var definition: EventDefinition { batch.catalog.definitions[Int(batch.entries[index].definitionIndex)] }
    /// Its name on the wire.
    public var name: String { definition.name }

    /// Its canonical JSON, without a newline, as a string of its own.
    public var json: String {
        String(decoding: batch.line(at: index), as: UTF8.self)
    }
}
