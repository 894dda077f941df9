/// Which frames a reader wants; of the others it reads the headers only, and hops from one to the next.
package struct FrameSelection: Sendable, Hashable {
    /// Frames whose events all come before this number are not wanted.
    package var firstSequence: UInt64
    /// Frames are wanted that may hold an event of such a time, in microseconds since 1970.
    package var times: ClosedRange<Int64>

    /// Wants everything, or what is stated instead.
    package init(firstSequence: UInt64 = 0, times: ClosedRange<Int64> = .min ... .max) {
        self.firstSequence = firstSequence
        self.times = times
    }

    /// Whether something in the frame may be wanted.
    func wants(_ header: FrameHeader) -> Bool {
        header.nextSequence > firstSequence && wants(earliest: header.earliest, latest: header.latest)
    }

    /// Whether something in the segment may be wanted.
    func wants(_ segment: Segment) -> Bool {
        segment.nextSequence > firstSequence && wants(earliest: segment.earliest, latest: segment.latest)
    }

    private func wants(earliest: Int64, latest: Int64) -> Bool {
        earliest <= times.upperBound && latest >= times.lowerBound
    }
}
