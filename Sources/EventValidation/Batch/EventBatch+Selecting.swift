extension EventBatch {
    /// A batch of only the events that pass; `nil` where none does, and this batch where all do.
    public func selecting(where isSelected: (Entry) -> Bool) -> EventBatch? {
        let selected = entries.indices.filter { isSelected(entries[$0]) }
        guard selected.count < count else { return self }
        guard !selected.isEmpty else { return nil }
        let byteCount = selected.reduce(0) { $0 + line(at: $1).count + 1 }
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 1)
        var kept: [Entry] = []
        kept.reserveCapacity(selected.count)
        var end = 0
        for index in selected {
            let line = line(at: index)
            // The newline behind the line comes along.
            let whole = UnsafeRawBufferPointer(start: line.baseAddress, count: line.count + 1)
            UnsafeMutableRawBufferPointer(rebasing: storage[end...]).copyMemory(from: whole)
            end += whole.count
            let entry = entries[index]
            kept.append(
                Entry(
                    id: entry.id,
                    time: entry.time,
                    definitionIndex: entry.definitionIndex,
                    end: UInt32(truncatingIfNeeded: end)
                )
            )
        }
        return EventBatch(catalog: catalog, entries: kept, adopting: UnsafeRawBufferPointer(storage))
    }
}
