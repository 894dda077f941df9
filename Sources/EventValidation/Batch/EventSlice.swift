/// The part of a batch that goes to one tracker: some of its events, in their order.
public struct EventSlice: Sendable {
    /// The batch.
    public let batch: EventBatch
    /// The positions in the batch, ascending; `nil` where `range` says it all.
    private let indexes: [UInt32]?
    /// Positions in `indexes`, or in the batch where there are none.
    private let range: Range<Int>
    /// How many bytes the lines of its events take, newlines included.
    public let byteCount: Int

    /// The journal's numbers of what is settled with it: of the batch's events, those before and between its own
    /// included.
    ///
    /// Empty without a journal.
    package var sequences: Range<UInt64> = 0..<0
    /// For each event of the batch its place in the commit that `sequences` counts from; `nil` where the batch is as it
    /// was committed.
    package var committedPlaces: [UInt32]?

    /// How many events it holds.
    public var count: Int { range.count }

    /// The whole batch.
    public init(_ batch: EventBatch) {
        self.batch = batch
        indexes = nil
        range = 0..<batch.count
        byteCount = batch.byteCount
    }

    /// The events of a batch that go to the trackers of `mask`; `nil` where there are none.
    package init?(_ batch: EventBatch, for mask: UInt64) {
        guard batch.trackerMask & mask != 0 else { return nil }
        if batch.isUniform {
            self.init(batch)
            return
        }
        let masks = batch.catalog.trackerMasks
        var indexes: [UInt32] = []
        indexes.reserveCapacity(batch.count)
        var bytes = 0
        var start: UInt32 = 0
        for (index, entry) in batch.entries.enumerated() {
            if masks[Int(entry.definitionIndex)] & mask != 0 {
                indexes.append(UInt32(truncatingIfNeeded: index))
                bytes += Int(entry.end - start)
            }
            start = entry.end
        }
        self.init(batch: batch, indexes: indexes, range: 0..<indexes.count, byteCount: bytes)
    }

    private init(batch: EventBatch, indexes: [UInt32]?, range: Range<Int>, byteCount: Int) {
        self.batch = batch
        self.indexes = indexes
        self.range = range
        self.byteCount = byteCount
    }

    private init(batch: EventBatch, indexes: [UInt32]?, range: Range<Int>) {
        var bytes = 0
        for position in range {
            bytes += batch.line(at: indexes.map { Int($0[position]) } ?? position).count + 1
        }
        self.init(batch: batch, indexes: indexes, range: range, byteCount: bytes)
    }

    /// The position in the batch of the slice's event at `position`.
    @inline(__always)
    public func batchIndex(at position: Int) -> Int {
        if let indexes { return Int(indexes[range.lowerBound + position]) }
        return range.lowerBound + position
    }

    /// The slice's own events at the positions of `subrange`.
    public subscript(subrange: Range<Int>) -> EventSlice {
        if subrange == 0..<count { return self }
        var slice = EventSlice(
            batch: batch,
            indexes: indexes,
            range: range.lowerBound + subrange.lowerBound..<range.lowerBound + subrange.upperBound
        )
        slice.committedPlaces = committedPlaces
        slice.sequences = sequences.lowerBound..<nextSequence(after: subrange.upperBound)
        return slice
    }

    /// The number before which everything is settled with the slice's first events.
    private func nextSequence(after position: Int) -> UInt64 {
        if position == count { return sequences.upperBound }
        guard position > 0, !sequences.isEmpty else { return sequences.lowerBound }
        let index = batchIndex(at: position - 1)
        return sequences.lowerBound + UInt64(committedPlaces.map { Int($0[index]) } ?? index) + 1
    }
}

extension [EventSlice] {
    /// The journal's number before which everything is settled with these, which follow each other; 0 without a journal.
    package var nextSequence: UInt64 { last?.sequences.upperBound ?? 0 }
}
