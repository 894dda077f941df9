/// Selects the frames to read; of other frames, only the headers are read.
package struct FrameSelection: Sendable, Hashable {
    /// Frames whose events all precede this sequence number are skipped.
    package var firstSequence: UInt64
    /// Frames are selected if they may hold an event of such a time, in microseconds since 1970.
    package var times: ClosedRange<Int64>

    /// Makes a selection.
    ///
    /// Default: all frames.
    package init(firstSequence: UInt64 = 0, times: ClosedRange<Int64> = .min ... .max) {
        self.firstSequence = firstSequence
        self.times = times
    }

    /// Whether the frame may hold selected events.
    func wants(_ header: FrameHeader) -> Bool {
        header.nextSequence > firstSequence && wants(earliest: header.earliest, latest: header.latest)
    }

    /// Whether the segment may hold selected events.
    func wants(_ segment: Segment) -> Bool {
        segment.nextSequence > firstSequence && wants(earliest: segment.earliest, latest: segment.latest)
    }

    private func wants(earliest: Int64, latest: Int64) -> Bool {
        earliest <= times.upperBound && latest >= times.lowerBound
    }
}
