extension UnsafeRawBufferPointer {
    /// The lines of a commit without its first ones, for a reader that starts in the middle of the commit.
    package func droppingLines(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[endOfLines(count, from: startIndex)...])
    }

    /// Where the given number of lines ends, counted from an index; the end of the bytes if there are fewer.
    fileprivate func endOfLines(_ count: Int, from start: Int) -> Int {
        var rest = self[start...]
        for _ in 0..<count {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return endIndex }
            rest = rest[(end + 1)...]
        }
        return rest.startIndex
    }
}

extension FrameHeader {
    /// The lines of this frame from a sequence number on, `limit` at most, and their number.
    package func lines(
        _ lines: UnsafeRawBufferPointer,
        from sequence: UInt64,
        limit: Int
    ) -> (bytes: UnsafeRawBufferPointer, count: Int) {
        let before = sequence > firstSequence ? Int(clamping: sequence - firstSequence) : 0
        let wanted = max(0, min(limit, count - min(before, count)))
        if before == 0, wanted == count { return (lines, count) }
        let start = lines.endOfLines(before, from: lines.startIndex)
        let end = lines.endOfLines(wanted, from: start)
        return (UnsafeRawBufferPointer(rebasing: lines[start..<end]), wanted)
    }
}
