/// Events to be committed together: canonical lines, which are not copied, and their metadata.
package protocol JournalEntry: Sendable {
    /// The lines, each with its newline; valid as long as the entry lives.
    var lines: UnsafeRawBufferPointer { get }
    /// The number of events.
    var count: Int { get }
    /// The earliest and the latest time of the events, in microseconds since 1970.
    var times: ClosedRange<Int64> { get }
}

/// Lines in memory that the caller owns.
// Safe to send: the memory is only read, and only until the commit returns.
struct LentLines: JournalEntry, @unchecked Sendable {
    let lines: UnsafeRawBufferPointer
    let count: Int
    let times: ClosedRange<Int64>
}

/// The entries of one commit as a frame: a header, followed by their lines, which are written without a copy.
struct Frame {
    let header: FrameHeader
    private let entries: [any JournalEntry]

    init(_ entries: [any JournalEntry], firstSequence: UInt64, isSynced: Bool, now: Int64) {
        var header = FrameHeader(firstSequence: firstSequence, committedAt: now)
        var checksum = Checksum()
        header.isSynced = isSynced
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
        try withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) { bytes throws(FileError) in
            header.write(to: bytes)
            let lines = entries.map(\.lines)
            try withExtendedLifetime(entries) { () throws(FileError) in
                try file.write([UnsafeRawBufferPointer(bytes)] + lines, at: offset)
            }
        }
    }
}
