extension EventBatch {
    /// A batch of only the events that pass; `nil` where none does, and this batch where all do.
    public func selecting(where isSelected: (Entry) -> Bool) -> EventBatch? {
        let selected = entries.indices.filter { isSelected(entries[$0]) }
        guard selected.count < count else { return self }
        guard !selected.isEmpty else { return nil }
        return copying(selected, byteCount: selected.reduce(0) { $0 + line(at: $1).count + 1 })
    }

    /// Copies some of the events, whose lines have `byteCount` bytes together with their newlines, into a batch of their own.
    fileprivate func copying(_ indexes: some Collection<Int>, byteCount: Int) -> EventBatch {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 1)
        var copied: [Entry] = []
        copied.reserveCapacity(indexes.count)
        var end = 0
        for index in indexes {
            let line = line(at: index)
            // The newline behind the line is copied with it.
            let whole = UnsafeRawBufferPointer(start: line.baseAddress, count: line.count + 1)
            UnsafeMutableRawBufferPointer(rebasing: storage[end...]).copyMemory(from: whole)
            end += whole.count
            let entry = entries[index]
            copied.append(
                Entry(
                    id: entry.id,
                    time: entry.time,
                    definitionIndex: entry.definitionIndex,
                    end: UInt32(truncatingIfNeeded: end)
                )
            )
        }
        return EventBatch(catalog: catalog, entries: copied, adopting: UnsafeRawBufferPointer(storage))
    }
}

extension EventSlice {
    /// A batch of exactly these events.
    package var ownBatch: EventBatch {
        count == batch.count ? batch : batch.copying((0..<count).map { batchIndex(at: $0) }, byteCount: byteCount)
    }

    /// The same events in a batch of their own if they are less than half of their batch; otherwise this slice.
    ///
    /// A slice keeps its whole batch in memory. If a queue held one event of each of a thousand batches, it would use far more
    /// memory than its limit in bytes; with compaction it uses at most twice as much.
    package func compacted() -> EventSlice {
        guard byteCount > 0, byteCount * 2 < batch.byteCount else { return self }
        let indexes = (0..<count).map { batchIndex(at: $0) }
        var slice = EventSlice(batch.copying(indexes, byteCount: byteCount))
        slice.committedPlaces = indexes.map { UInt32(truncatingIfNeeded: $0) }
        return slice
    }
}
