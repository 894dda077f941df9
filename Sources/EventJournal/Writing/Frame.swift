/// Events to be journalled together: canonical lines that stay where they are, and what the frame says of them.
package protocol JournalEntry: Sendable {
    /// The lines, each with its newline; valid as long as the entry.
    var lines: UnsafeRawBufferPointer { get }
    /// How many events they are.
    var count: Int { get }
    /// The earliest and the latest time of the events, in microseconds since 1970.
    var times: ClosedRange<Int64> { get }
}

/// The entries of one commit as one frame: a header, and then their lines, which are written from where they stand.
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
