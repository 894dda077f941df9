@_spi(CanonicalJSON) import EventModel

/// Collects the results of the check of a body: accepted events in one buffer, and rejections in a list.
///
/// If the number of explained rejections is limited, the list is bounded. The first rejections have all their reasons, up to that
/// limit and up to `maximumExplanationBytes`. The next ones have only the first reason, as many as the quarantine stores within
/// the size of the body and `keptBytesBesidesBody`. The rest are only counted, in the tally, which has the positions of the first
/// `maximumPositions`.
struct BatchCollector: ~Copyable {
    /// The maximum size of rejections with all their reasons, in bytes.
    static let maximumExplanationBytes = 256 << 10
    /// How much larger than the body the kept rejected events may be, in bytes.
    static let keptBytesBesidesBody = 64 << 10
    /// The number of bytes that the quarantine adds to a rejected event if many share a verdict (`VerdictRecords`).
    private static let storedBytesBesidesEvent = 4

    var output: ByteBuilder
    private var entries: [EventBatch.Entry] = []
    private var rejections: [Rejection] = []
    private var explained = 0
    private var tally = RejectionTally()
    private let maximumExplained: Int
    private let maximumPositions: Int
    private var explanationBytes: Int
    private var bytesToKeep: Int
    private var keptBytes = 0

    /// The number of events checked so far.
    var eventCount: Int { entries.count + tally.count }

    /// The number of events rejected so far.
    var rejectionCount: Int { tally.count }

    /// The number of violations of the next event that are to be described.
    var wantedViolations: Int {
        guard tally.count < maximumPositions else { return 0 }
        if isExplaining { return Rejection.maximumViolations }
        return bytesToKeep > Self.storedBytesBesidesEvent ? 1 : 0
    }

    private var isExplaining: Bool { explained < maximumExplained && explanationBytes > 0 }

    /// The approximate memory that it holds, in bytes.
    var byteCount: Int {
        output.reservedBytes + entries.capacity * MemoryLayout<EventBatch.Entry>.stride + 2 * keptBytes
            + tally.indexes.capacity * MemoryLayout<ClosedRange<Int>>.stride
    }

    /// Creates a collector with room for the usual result of a body of this size.
    ///
    /// Beyond `maximumPositions` rejections, further ones are only counted.
    init(bytesRead: Int, maximumExplained: Int, maximumPositions: Int) {
        output = ByteBuilder(capacity: bytesRead + bytesRead / 2 + 256)
        entries.reserveCapacity(bytesRead / 256 + 1)
        self.maximumExplained = maximumExplained
        self.maximumPositions = maximumPositions
        let isBounded = maximumExplained < .max
        explanationBytes = isBounded ? Self.maximumExplanationBytes : .max
        bytesToKeep = isBounded ? bytesRead + Self.keptBytesBesidesBody : .max
    }

    /// Adds the event whose line was just appended to `output`.
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
        let kind = RejectionTally.Kind(event: nil, code: violation.code)
        reject(kind, [violation], line: line, id: nil, original: original)
    }

    /// Adds a rejected event, whose first violation has the code of `kind`; `violations` may be fewer than wanted, or empty.
    mutating func reject(
        _ kind: RejectionTally.Kind,
        _ violations: [Violation],
        line: Int?,
        id: String?,
        original: UnsafeRawBufferPointer
    ) {
        let index = eventCount
        guard tally.count < maximumPositions else { return tally.add(kind) }
        tally.add(kind, at: index)
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
                name: kind.event,
                violations: violations,
                original: Array(original)
            )
        )
    }

    /// Counts an event as rejected that is not looked at.
    mutating func count(_ code: VerdictCode) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        reject(.init(event: nil, code: code), [], line: nil, id: nil, original: nothing)
    }

    consuming func finish(catalog: EventCatalog) -> CheckedBody {
        let (rejections, explained, tally, keptBytes) = (rejections, explained, tally, keptBytes)
        // Unused capacity would be memory that no limit counts.
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
