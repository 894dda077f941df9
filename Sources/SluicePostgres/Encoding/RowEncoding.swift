import EventModel
public import EventValidation

/// Encodes rows without a server, so that benchmarks can measure it and the fuzzer can attack it.
@_spi(Benchmarks)
public struct RowEncoding: ~Copyable {
    private let layouts: [RowLayout]
    private var encoder = CopyEncoder()
    private var buffer = CopyBuffer(capacity: 1 << 16)

    /// Prepares the tables of a catalog.
    public init(catalog: EventCatalog) {
        layouts = catalog.definitions.map(RowLayout.init)
    }

    /// The number of definitions.
    public var definitionCount: Int { layouts.count }

    /// The rows of the last call.
    public var rows: UnsafeRawBufferPointer { buffer.bytes }

    /// Encodes the events of a batch of the catalog.
    ///
    /// - Returns: Whether each event has a row.
    public mutating func encode(_ batch: EventBatch) -> Bool {
        buffer.truncate(to: 0)
        let entries = batch.entries
        for index in entries.indices {
            let layout = layouts[Int(entries[index].definitionIndex)]
            do {
                try encoder.append(batch.line(at: index), entries[index], layout, to: &buffer)
            } catch {
                return false
            }
        }
        return true
    }

    /// Encodes bytes that nobody has checked as if they were the line of an event.
    ///
    /// - Returns: Whether they have a row.
    public mutating func encode(unchecked line: UnsafeRawBufferPointer, ofDefinition index: Int) -> Bool {
        buffer.truncate(to: 0)
        let entry = EventBatch.Entry(
            id: EventID(high: 0, low: 0),
            time: Timestamp(microseconds: 0),
            definitionIndex: UInt32(truncatingIfNeeded: index),
            end: UInt32(truncatingIfNeeded: line.count)
        )
        do {
            try encoder.append(line, entry, layouts[index], to: &buffer)
            return true
        } catch {
            return false
        }
    }
}
