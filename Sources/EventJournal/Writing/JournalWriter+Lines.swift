extension JournalWriter {
    /// Commits lines, each with its newline, as one frame; returns the number of the first.
    ///
    /// - Throws: As `commit(_:now:)`.
    package mutating func commit(lines: [UInt8], count: Int, now: Int64) throws(JournalError) -> UInt64 {
        try lines.withUnsafeBufferPointer { lines throws(JournalError) in
            try commit([LentLines(lines: UnsafeRawBufferPointer(lines), count: count, times: now...now)], now: now)
        }
    }
}

/// Lines in somebody's memory.
// Safe to send: it is only read, and the commit is done with it when it returns, before its owner is.
private struct LentLines: JournalEntry, @unchecked Sendable {
    let lines: UnsafeRawBufferPointer
    let count: Int
    let times: ClosedRange<Int64>
}
