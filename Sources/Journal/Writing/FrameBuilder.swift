/// Events to be journalled together: canonical lines that stay where they are, and what the frame says of them.
package protocol JournalEntry: Sendable {
    /// The lines, each with its newline; valid as long as the entry.
    var lines: UnsafeRawBufferPointer { get }
    /// How many events they are.
    var count: Int { get }
    /// The earliest and the latest time of the events, in microseconds since 1970.
    var times: ClosedRange<Int64> { get }
}

/// Puts the entries of one commit into one frame, in memory that is used again.
struct FrameBuilder: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private(set) var header = FrameHeader(firstSequence: 0, committedAt: 0)

    deinit {
        memory.deallocate()
    }

    /// The whole frame.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<header.frameBytes])
    }

    /// Begins a frame anew.
    mutating func build(
        _ entries: some Sequence<any JournalEntry>,
        firstSequence: UInt64,
        isSynced: Bool,
        now: Int64
    ) {
        header = FrameHeader(firstSequence: firstSequence, committedAt: now)
        header.isSynced = isSynced
        for entry in entries { add(entry) }
        let start = FrameHeader.byteCount
        let lines = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<header.frameBytes])
        header.payloadChecksum = Checksum.of(lines)
        header.write(to: memory)
    }

    private mutating func add(_ entry: any JournalEntry) {
        let lines = entry.lines
        let start = header.frameBytes
        if memory.count < start + lines.count { grow(to: start + lines.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: lines)
        header.payloadBytes += lines.count
        header.count += entry.count
        header.earliest = min(header.earliest, entry.times.lowerBound)
        header.latest = max(header.latest, entry.times.upperBound)
    }

    private mutating func grow(to count: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, memory.count * 2), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}
