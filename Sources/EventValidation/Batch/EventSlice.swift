/// The events of a batch that go to one tracker, in their order.
public struct EventSlice: Sendable {
    /// The batch.
    public let batch: EventBatch
    /// The ascending positions of the events in the batch; `nil` if `range` is enough.
    @usableFromInline let indexes: [UInt32]?
    /// The range of positions in `indexes`, or in the batch if `indexes` is `nil`.
    @usableFromInline let range: Range<Int>
    /// The size of the events' lines with their newlines, in bytes.
    public let byteCount: Int

    /// The sequence numbers that are settled with this slice, including those of the batch's other events before and between
    /// its own.
    ///
    /// Empty without a journal.
    @usableFromInline package var sequences: Range<UInt64> = 0..<0
    /// For each event of the batch its position in the commit; `nil` if the batch holds the events as they were committed.
    package var committedPlaces: [UInt32]?

    /// The number of events.
    @inlinable
    public var count: Int { range.count }

    /// Creates a slice of the whole batch.
    public init(_ batch: EventBatch) {
        self.batch = batch
        indexes = nil
        range = 0..<batch.count
        byteCount = batch.byteCount
    }

    /// Creates a slice of the events that go to the trackers of `mask`; `nil` if there are none.
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
    @inlinable
    @inline(__always)
    public func batchIndex(at position: Int) -> Int {
        if let indexes { return Int(indexes[range.lowerBound + position]) }
        return range.lowerBound + position
    }

    /// The events' lines, each with its newline, if they are adjacent in the batch; valid as long as the batch exists.
    package var adjacentLines: UnsafeRawBufferPointer? {
        guard indexes == nil, !range.isEmpty else { return nil }
        let start = range.lowerBound == 0 ? 0 : Int(batch.entries[range.lowerBound - 1].end)
        return UnsafeRawBufferPointer(rebasing: batch.lines[start..<start + byteCount])
    }

    /// The slice's events at the positions of `subrange`.
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

    /// The sequence number before which everything is settled with the slice's first `position` events.
    private func nextSequence(after position: Int) -> UInt64 {
        if position == count { return sequences.upperBound }
        guard position > 0, !sequences.isEmpty else { return sequences.lowerBound }
        let index = batchIndex(at: position - 1)
        return sequences.lowerBound + UInt64(committedPlaces.map { Int($0[index]) } ?? index) + 1
    }
}

extension [EventSlice] {
    /// The sequence number before which everything is settled with these slices, which must be consecutive; 0 without a
    /// journal.
    package var nextSequence: UInt64 { last?.sequences.upperBound ?? 0 }
}
