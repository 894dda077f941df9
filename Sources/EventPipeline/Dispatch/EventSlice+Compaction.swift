import EventValidation

extension EventSlice {
    /// The same events in a batch of their own, where they are but the lesser part of this one.
    ///
    /// A slice keeps its whole batch in memory. Were a queue to hold one event each of a thousand batches, its limit
    /// in bytes would be off by far; with this it is off by at most a factor of two.
    func compacted() -> EventSlice {
        guard byteCount > 0, byteCount * 2 < batch.byteCount else { return self }
        let storage = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 1)
        var entries: [EventBatch.Entry] = []
        var places: [UInt32] = []
        places.reserveCapacity(count)
        entries.reserveCapacity(count)
        var end = 0
        for position in 0..<count {
            let index = batchIndex(at: position)
            let line = batch.line(at: index)
            if let start = line.baseAddress { (storage + end).copyMemory(from: start, byteCount: line.count) }
            end += line.count + 1
            storage.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: end - 1, as: UInt8.self)
            let entry = batch.entries[index]
            places.append(UInt32(truncatingIfNeeded: index))
            entries.append(
                EventBatch.Entry(
                    id: entry.id,
                    time: entry.time,
                    definitionIndex: entry.definitionIndex,
                    end: UInt32(truncatingIfNeeded: end)
                )
            )
        }
        let bytes = UnsafeRawBufferPointer(start: storage, count: end)
        var slice = EventSlice(EventBatch(catalog: batch.catalog, entries: entries, adopting: bytes))
        slice.committedPlaces = places
        return slice
    }
}
