/// The metadata of a segment.
package struct Segment: Sendable, Hashable {
    /// The name of its file.
    package let name: SegmentName
    /// The size of its committed part, in bytes.
    package internal(set) var byteCount: Int
    /// The sequence number after its last event.
    package internal(set) var nextSequence: UInt64
    /// The earliest time of its events, in microseconds since 1970.
    package internal(set) var earliest: Int64
    /// The latest time of its events, in microseconds since 1970.
    package internal(set) var latest: Int64
    /// The time of its last commit, in microseconds since 1970.
    package internal(set) var committedAt: Int64

    /// The greatest version of its frames.
    private(set) var version = FrameHeader.plainVersion

    init(_ name: SegmentName) {
        self.name = name
        byteCount = 0
        nextSequence = name.firstSequence
        earliest = .max
        latest = .min
        committedAt = .min
    }

    /// Whether it has no events.
    var isEmpty: Bool { nextSequence == name.firstSequence }

    /// Skips a sequence number if the segment has no events, so that the next segment gets another name.
    mutating func reserveName() {
        if isEmpty { nextSequence &+= 1 }
    }

    /// Updates the metadata for a frame.
    mutating func append(_ header: FrameHeader) {
        byteCount += header.frameBytes
        nextSequence = header.nextSequence
        earliest = min(earliest, header.earliest)
        latest = max(latest, header.latest)
        committedAt = max(committedAt, header.committedAt)
        version = max(version, header.version)
    }
}

/// The name of a segment's file: the sequence number of its first event with 20 digits, so that names sort like numbers.
package struct SegmentName: Sendable, Hashable, Comparable {
    /// The sequence number of the segment's first event, present or future.
    package let firstSequence: UInt64

    private static let digits = 20
    private static let suffix = ".segment"

    package init(firstSequence: UInt64) {
        self.firstSequence = firstSequence
    }

    /// Parses a file's name; `nil` if it is not a segment's.
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

extension FileSystem {
    /// The segments' names in the order of their events.
    func segmentNames() throws(FileError) -> [SegmentName] {
        try names().compactMap { SegmentName($0) }.sorted()
    }
}
