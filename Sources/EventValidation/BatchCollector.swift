import EventModel
import JSONTape

/// Gathers what the check of a body gives: accepted events into one buffer, rejections into a list.
///
/// Where a limit on explained rejections is set, the list is bounded: in full it holds the first rejections up to that
/// limit and up to `maximumExplanationBytes`; then, with the first reason only, as many as the quarantine stores within the
/// size of the body and `keptBytesBesidesBody`. The others are counted in the tally.
struct BatchCollector: ~Copyable {
    /// So many bytes of reasons are given in full.
    static let maximumExplanationBytes = 256 << 10
    /// What is kept of rejected events may be larger than the body by so much.
    static let keptBytesBesidesBody = 64 << 10
    /// What the quarantine stores of a rejected event besides its bytes, where many share a verdict (`VerdictRecords`).
    private static let storedBytesBesidesEvent = 4

    var output: ByteBuilder
    private var entries: [EventBatch.Entry] = []
    private var rejections: [Rejection] = []
    private var explained = 0
    private var tally = RejectionTally()
    private let maximumExplained: Int
    private var explanationBytes: Int
    private var bytesToKeep: Int
    private var keptBytes = 0

    /// How many events were rejected so far.
    var rejectionCount: Int { tally.count }

    /// How many violations of the next event are to be described.
    var wantedViolations: Int {
        if isExplaining { return Rejection.maximumViolations }
        return bytesToKeep > Self.storedBytesBesidesEvent ? 1 : 0
    }

    private var isExplaining: Bool { explained < maximumExplained && explanationBytes > 0 }

    /// About how many bytes of memory it holds.
    var byteCount: Int {
        output.reservedBytes + entries.capacity * MemoryLayout<EventBatch.Entry>.stride + 2 * keptBytes
            + tally.indexes.capacity * MemoryLayout<ClosedRange<Int>>.stride
    }

    /// Makes room for what a body of so many bytes usually gives.
    init(bytesRead: Int, maximumExplained: Int) {
        output = ByteBuilder(capacity: bytesRead + bytesRead / 2 + 256)
        entries.reserveCapacity(bytesRead / 256 + 1)
        self.maximumExplained = maximumExplained
        let isBounded = maximumExplained < .max
        explanationBytes = isBounded ? Self.maximumExplanationBytes : .max
        bytesToKeep = isBounded ? bytesRead + Self.keptBytesBesidesBody : .max
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

    mutating func reject(_ violation: Violation, line: Int?, original: UnsafeRawBufferPointer) {
        reject(for: violation.code, [violation], line: line, id: nil, name: nil, original: original)
    }

    /// Notes an event that broke the rule of `code` first; `violations` may be fewer than were wanted, or none.
    mutating func reject(
        for code: VerdictCode,
        _ violations: [Violation],
        line: Int?,
        id: String?,
        name: String?,
        original: UnsafeRawBufferPointer
    ) {
        let index = entries.count + tally.count
        tally.add(code, at: index)
        let isExplained = isExplaining
        let reasonBytes = Rejection.storedBytes(of: violations)
        let storedBytes = original.count + Self.storedBytesBesidesEvent
        guard !violations.isEmpty, isExplained || storedBytes <= bytesToKeep else { return }
        if isExplained {
            explained += 1
            explanationBytes -= reasonBytes
        }
        bytesToKeep -= storedBytes
        keptBytes += reasonBytes + original.count
        rejections.append(
            Rejection(
                index: index,
                line: line,
                id: id,
                name: name,
                violations: violations,
                original: Array(original)
            )
        )
    }

    consuming func finish(catalog: EventCatalog) -> CheckedBody {
        let (rejections, explained, tally, keptBytes) = (rejections, explained, tally, keptBytes)
        // Entries that were made room for, but did not come, would be memory that nobody counts.
        let entries = entries.capacity > 2 * entries.count + 8 ? Array(entries[...]) : entries
        let batch =
            entries.isEmpty ? nil : EventBatch(catalog: catalog, entries: entries, adopting: output.release())
        return CheckedBody(
            batch: batch,
            rejections: rejections,
            explainedCount: explained,
            rejected: tally,
            keptBytes: keptBytes
        )
    }
}
