@_spi(CanonicalJSON) import EventModel

extension EventBatch {
    /// Copies canonical lines of events that were accepted under the same plan into a batch, without checking them again.
    ///
    /// Only the beginning of each line is read. `nil` if one does not begin like an event of the plan; then check the lines.
    package convenience init?(accepted lines: UnsafeRawBufferPointer, of catalog: EventCatalog) {
        guard lines.count <= UInt32.max, lines.last == UInt8(ascii: "\n") else { return nil }
        var entries: [Entry] = []
        var times = TimestampReader()
        var start = 0
        while start < lines.count {
            let rest = UnsafeRawBufferPointer(rebasing: lines[start...])
            guard let length = rest.firstIndex(ofByte: UInt8(ascii: "\n")),
                let line = CanonicalLine(UnsafeRawBufferPointer(rebasing: rest[..<length])),
                let id = EventID(text: line.rawText(of: line.id)),
                let time = times.read(line.rawText(of: line.time)),
                let definition = catalog.definition(ofRawName: line.rawText(of: line.name))
            else { return nil }
            start += length + 1
            entries.append(Entry(id: id, time: time, definitionIndex: definition, end: UInt32(start)))
        }
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: lines.count, alignment: 1)
        storage.copyMemory(from: lines)
        self.init(catalog: catalog, entries: entries, adopting: UnsafeRawBufferPointer(storage))
    }
}

extension EventCatalog {
    /// The index of the event with a name as a canonical line has it; `nil` if there is none, or if the name has escapes.
    fileprivate func definition(ofRawName name: UnsafeRawBufferPointer) -> UInt32? {
        // More of the line follows the name, so the table may read beyond it.
        let ordinal = compiled.tables.names.ordinal(of: name)
        guard ordinal >= 0, !name.contains(UInt8(ascii: "\\")) else { return nil }
        return UInt32(ordinal)
    }
}
