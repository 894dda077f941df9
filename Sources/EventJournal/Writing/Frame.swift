package import EventModel

/// Events to be committed together: canonical lines, which are not copied, and their metadata.
package protocol JournalEntry: Sendable {
    /// The lines, each with its newline; valid as long as the entry lives.
    var lines: UnsafeRawBufferPointer { get }
    /// The number of events.
    var count: Int { get }
    /// The earliest and the latest time of the events, in microseconds since 1970.
    var times: ClosedRange<Int64> { get }
    /// The plan that the events follow; `nil` if they follow none, or several.
    var planDigest: PlanDigest? { get }
}

extension JournalEntry {
    package var planDigest: PlanDigest? { nil }
}

/// Lines in memory that the caller owns.
// Safe to send: the memory is only read, and only until the commit returns.
struct LentLines: JournalEntry, @unchecked Sendable {
    let lines: UnsafeRawBufferPointer
    let count: Int
    let times: ClosedRange<Int64>
}

/// The entries of one commit as a frame: a header and the plan's digest, followed by their lines, which are written without a copy.
struct Frame {
    /// The maximum size of what precedes the lines, in bytes.
    static let maximumPrefixBytes = FrameHeader.byteCount + PlanDigest.byteCount

    let header: FrameHeader
    private let entries: [any JournalEntry]

    /// The size of what precedes the lines of some entries, in bytes.
    static func prefixBytes(of entries: [any JournalEntry]) -> Int {
        planDigest(of: entries) == nil ? FrameHeader.byteCount : maximumPrefixBytes
    }

    /// The plan that the events of all entries follow.
    private static func planDigest(of entries: [any JournalEntry]) -> PlanDigest? {
        guard let digest = entries.first?.planDigest else { return nil }
        return entries.allSatisfy { $0.planDigest == digest } ? digest : nil
    }

    init(_ entries: [any JournalEntry], firstSequence: UInt64, isSynced: Bool, now: Int64) {
        var header = FrameHeader(firstSequence: firstSequence, committedAt: now)
        var checksum = Checksum()
        header.isSynced = isSynced
        header.planDigest = Self.planDigest(of: entries)
        if let digest = header.planDigest {
            withUnsafeTemporaryAllocation(byteCount: PlanDigest.byteCount, alignment: 8) { bytes in
                digest.write(to: bytes)
                checksum.add(UnsafeRawBufferPointer(bytes))
            }
        }
        for entry in entries {
            let lines = entry.lines
            checksum.add(lines)
            header.payloadBytes += lines.count
            header.count += entry.count
            header.earliest = min(header.earliest, entry.times.lowerBound)
            header.latest = max(header.latest, entry.times.upperBound)
        }
        header.payloadChecksum = checksum.value
        self.header = header
        self.entries = entries
    }

    /// Writes the whole frame.
    func write(to file: any JournalFile, at offset: Int) throws(FileError) {
        try withUnsafeTemporaryAllocation(byteCount: header.prefixBytes, alignment: 8) { bytes throws(FileError) in
            header.write(to: bytes)
            header.planDigest?.write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[FrameHeader.byteCount...]))
            let lines = entries.map(\.lines)
            try withExtendedLifetime(entries) { () throws(FileError) in
                try file.write([UnsafeRawBufferPointer(bytes)] + lines, at: offset)
            }
        }
    }
}
