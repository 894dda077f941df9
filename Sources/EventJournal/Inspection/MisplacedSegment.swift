/// A segment whose events do not have the numbers that its place in the journal gives them: somebody has copied or renamed a
/// file.
package struct MisplacedSegment: Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with its place.
    package enum Reason: Sendable, Hashable {
        /// It begins with the event of this number, which its name does not say.
        case name(UInt64)
        /// The events from this number on are in the segments before it, too.
        case repetition(UInt64)
    }

    /// The segment.
    package let segment: SegmentName
    /// What is wrong.
    package let reason: Reason

    /// What is wrong and how to correct it, for example `00000000000000000200.segment begins with event 100, so its name has to be
    /// 00000000000000000100.segment; rename it while no process has the journal open`.
    package var description: String {
        switch reason {
        case .name(let first):
            "\(segment.text) begins with event \(first), so its name has to be \(SegmentName(firstSequence: first).text); "
                + "rename it while no process has the journal open"
        case .repetition(let first):
            "\(segment.text) has events from number \(first) on that the segments before it have, too; "
                + "if it is a copy, move it out of the folder while no process has the journal open"
        }
    }

    /// Judges the place of a segment; `nil` if it is right, or if its first frame is damaged.
    ///
    /// `expected` is the number after the last event of the segments before it; `nil` if there are none. A segment may begin with a
    /// later event than its name says, because a repair may have removed the earlier ones.
    init?(_ name: SegmentName, _ file: any JournalFile, expecting expected: UInt64?) throws(FileError) {
        guard let first = try FrameHeader.read(file, at: 0)?.firstSequence else { return nil }
        if let expected, first < expected {
            self.init(segment: name, reason: .repetition(first))
        } else if first < name.firstSequence {
            self.init(segment: name, reason: .name(first))
        } else {
            return nil
        }
    }

    init(segment: SegmentName, reason: Reason) {
        self.segment = segment
        self.reason = reason
    }
}
