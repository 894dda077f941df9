/// Reads the frames of a journal, from the files alone, while another process may be writing them.
///
/// With a selection it seeks: segments that were ended say what times are in them, and those that are not wanted are not
/// read; nor are the lines of single frames.
package struct JournalWalk: ~Copyable {
    /// What comes next.
    package enum Step {
        /// A whole frame and its lines, valid until the next call; and the numbers that no frame before it has.
        case frame(FrameHeader, lines: UnsafeRawBufferPointer, skipped: RecoveryReport.Gap?)
        /// Bytes that are no frame.
        case damage(Damage)
        /// Bytes at the end of the last segment that are no frame: a commit that goes on now, or that a crash kept from
        /// being finished. The next opening of the journal cuts them off.
        case unfinished(Damage)
        /// Numbers that no segment has.
        case gap(RecoveryReport.Gap)
        /// A segment that the journal's process has removed since the segments before it were read.
        case retired(SegmentName)
        /// A frame, or a whole segment, that is not wanted, and was not read.
        case passed
        /// There is no more.
        case end
    }

    private let files: any FileSystem
    private let selection: FrameSelection?
    /// The segments that were not begun.
    private var names: ArraySlice<SegmentName>
    private var frames: FrameReader?
    /// How many bytes the segment at hand had when it was begun.
    private var size = 0
    /// The number that the next event must have; `nil` before the first.
    private var expected: UInt64?

    /// The segment at hand.
    package private(set) var segment: SegmentName?
    /// How many segments were begun.
    package private(set) var segmentCount = 0
    /// How many bytes the segments have that are done with.
    private var doneBytes = 0
    /// How many bytes lie behind, read or passed over.
    package private(set) var byteCount = 0

    /// Begins with the segment in which a number must be; where it is no longer there, with the first.
    package init(
        _ files: any FileSystem,
        from sequence: UInt64 = 0,
        selecting selection: FrameSelection? = nil
    ) throws(FileError) {
        self.files = files
        self.selection = selection
        let all = try files.names().compactMap { SegmentName($0) }.sorted()
        names = all[(all.lastIndex { $0.firstSequence <= sequence } ?? all.startIndex)...]
    }

    /// The next frame, or what is wrong there.
    ///
    /// - Throws: Where a file cannot be read.
    package mutating func next() throws(FileError) -> Step {
        defer { byteCount = doneBytes + (frames?.offset ?? 0) }
        while true {
            let offset = frames?.offset ?? 0
            switch try frames?.next() ?? .end {
            case .frame(let header, let lines):
                return .frame(header, lines: lines, skipped: advance(over: header, at: offset))
            case .passed(let header):
                _ = advance(over: header, at: offset)
                return .passed
            case .damage(let damage):
                let isLast = names.isEmpty && damage.range.upperBound == size
                return isLast ? .unfinished(damage) : .damage(damage)
            case .end:
                leaveSegment()
                guard let name = names.popFirst() else { return .end }
                if let step = try begin(name) { return step }
            }
        }
    }

    /// Goes on with the next segment, where the one at hand cannot be read.
    package mutating func passSegment() {
        leaveSegment()
        // How many events it would have had nobody knows.
        expected = nil
    }

    private mutating func leaveSegment() {
        if frames != nil { doneBytes += size }
        frames = nil
    }

    private mutating func begin(_ name: SegmentName) throws(FileError) -> Step? {
        do throws(FileError) {
            let file = try files.open(name.text, creates: false)
            size = try file.size()
            if let selection, let ended = try Segment.ended(name, file)?.segment, !selection.wants(ended) {
                return pass(ended)
            }
            frames = FrameReader(file, name: name.text, to: size, selecting: selection)
        } catch {
            guard error.isMissing else { throw error }
            expected = nil
            // Before anything was read it is as if it had retired before.
            return segment == nil ? nil : .retired(name)
        }
        segmentCount += 1
        return step(into: name)
    }

    private mutating func pass(_ ended: Segment) -> Step {
        doneBytes += size
        let step = step(into: ended.name)
        expected = max(expected ?? 0, ended.nextSequence)
        return step ?? .passed
    }

    /// Notes that a segment comes next; returns the numbers that are missing before it.
    private mutating func step(into name: SegmentName) -> Step? {
        segment = name
        defer { expected = max(expected ?? 0, name.firstSequence) }
        guard let expected, expected < name.firstSequence else { return nil }
        return .gap(.init(from: expected, to: name.firstSequence, before: name.text))
    }

    private mutating func advance(over header: FrameHeader, at offset: Int) -> RecoveryReport.Gap? {
        let before = expected ?? header.firstSequence
        expected = max(before, header.nextSequence)
        guard header.firstSequence > before, let segment else { return nil }
        return .init(from: before, to: header.firstSequence, before: "\(segment.text), byte \(offset)")
    }
}
