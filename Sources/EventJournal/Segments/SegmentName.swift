/// The name of a segment's file: the sequence number of its first event in 20 digits, so that names sort as numbers do.
package struct SegmentName: Sendable, Hashable, Comparable {
    /// The sequence number of the first event that it holds or will hold.
    package let firstSequence: UInt64

    private static let digits = 20
    private static let suffix = ".segment"

    package init(firstSequence: UInt64) {
        self.firstSequence = firstSequence
    }

    /// Reads a file's name; `nil` where it is no segment's.
    package init?(_ name: String) {
        guard name.hasSuffix(Self.suffix), name.utf8.count == Self.digits + Self.suffix.utf8.count else { return nil }
        let digits = name.prefix(Self.digits)
        guard digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = UInt64(digits), number <= FrameHeader.maximumSequence
        else { return nil }
        firstSequence = number
    }

    /// The file's name.
    package var text: String {
        let number = String(firstSequence)
        return String(repeating: "0", count: Self.digits - number.utf8.count) + number + Self.suffix
    }

    package static func < (left: Self, right: Self) -> Bool { left.firstSequence < right.firstSequence }
}
