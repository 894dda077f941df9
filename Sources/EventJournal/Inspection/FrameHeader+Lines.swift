extension FrameHeader {
    /// The lines of this frame from a number on, and how many they are, `limit` at most.
    package func lines(
        _ lines: UnsafeRawBufferPointer,
        from sequence: UInt64,
        limit: Int
    ) -> (bytes: UnsafeRawBufferPointer, count: Int) {
        let before = sequence > firstSequence ? Int(clamping: sequence - firstSequence) : 0
        let wanted = max(0, min(limit, count - min(before, count)))
        if before == 0, wanted == count { return (lines, count) }
        let start = Self.end(ofLines: before, in: lines, from: 0)
        let end = Self.end(ofLines: wanted, in: lines, from: start)
        return (UnsafeRawBufferPointer(rebasing: lines[start..<end]), wanted)
    }

    /// Where so many lines end that begin at a place.
    private static func end(ofLines count: Int, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var rest = count
        var position = start
        while rest > 0, position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { rest -= 1 }
            position += 1
        }
        return position
    }
}
