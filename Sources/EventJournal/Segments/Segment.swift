/// What is known of a segment without reading its events.
package struct Segment: Sendable, Hashable {
    /// Its file.
    package let name: SegmentName
    /// How many bytes of it count.
    package internal(set) var byteCount: Int
    /// The sequence number that follows its last event.
    package internal(set) var nextSequence: UInt64
    /// The earliest time of its events, in microseconds since 1970.
    package internal(set) var earliest: Int64
    /// The latest.
    package internal(set) var latest: Int64
    /// When the last of it was committed, in microseconds since 1970.
    package internal(set) var committedAt: Int64

    init(_ name: SegmentName) {
        self.name = name
        byteCount = 0
        nextSequence = name.firstSequence
        earliest = .max
        latest = .min
        committedAt = .min
    }

    /// Whether it holds no event.
    var isEmpty: Bool { nextSequence == name.firstSequence }

    /// Leaves out a number where it holds no event, so that the segment that follows gets another name.
    mutating func reserveName() {
        if isEmpty { nextSequence &+= 1 }
    }

    /// Notes a frame that is or was appended to it.
    mutating func append(_ header: FrameHeader) {
        byteCount += header.frameBytes
        nextSequence = header.nextSequence
        earliest = min(earliest, header.earliest)
        latest = max(latest, header.latest)
        committedAt = max(committedAt, header.committedAt)
    }
}
