import EventModel
import JSONTape

/// Gathers what the check of a body gives: accepted events into one buffer, rejections into a list.
struct BatchCollector: ~Copyable {
    var output: ByteBuilder
    private var entries: [EventBatch.Entry] = []
    private var rejections: [Rejection] = []

    /// How many events were rejected so far.
    var rejectionCount: Int { rejections.count }

    /// Makes room for what a body of so many bytes usually gives.
    init(bytesRead: Int) {
        output = ByteBuilder(capacity: bytesRead + bytesRead / 2 + 256)
        entries.reserveCapacity(bytesRead / 256 + 1)
    }

    /// Closes the event whose line was just appended to `output`.
    @inline(__always)
    mutating func accept(id: EventID, time: Timestamp, definitionIndex: Int) {
        entries.append(
            EventBatch.Entry(
                id: id,
                time: time,
                definitionIndex: UInt32(truncatingIfNeeded: definitionIndex),
                end: UInt32(truncatingIfNeeded: output.count)
            )
        )
    }

    mutating func reject(_ violation: Violation, line: Int?, id: String?, original: UnsafeRawBufferPointer) {
        reject([violation], line: line, id: id, name: nil, original: original)
    }

    mutating func reject(
        _ violations: [Violation],
        line: Int?,
        id: String?,
        name: String?,
        original: UnsafeRawBufferPointer
    ) {
        rejections.append(
            Rejection(
                index: entries.count + rejections.count,
                line: line,
                id: id,
                name: name,
                violations: violations,
                original: Array(original)
            )
        )
    }

    consuming func finish(catalog: EventCatalog) -> CheckedBody {
        let rejections = rejections
        // Entries that were made room for, but did not come, would be memory that nobody counts.
        let entries = entries.capacity > 2 * entries.count + 8 ? Array(entries[...]) : entries
        guard !entries.isEmpty else { return CheckedBody(batch: nil, rejections: rejections) }
        let batch = EventBatch(catalog: catalog, entries: entries, adopting: output.release())
        return CheckedBody(batch: batch, rejections: rejections)
    }
}
