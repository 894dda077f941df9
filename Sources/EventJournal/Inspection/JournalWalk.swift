/// Reads the frames of a journal from its files, while another process may be writing them.
///
/// With a selection it seeks: ended segments outside the selection, and the lines of frames outside it, are not read.
package struct JournalWalk: ~Copyable {
    /// The next part of the journal.
    package enum Step {
        /// A frame and its lines, which are valid until the next call, and the sequence numbers missing before it.
        case frame(FrameHeader, lines: UnsafeRawBufferPointer, skipped: RecoveryReport.Gap?)
        /// Bytes that are not a valid frame.
        case damage(Damage)
        /// Bytes at the end of the last segment that are not a frame: a commit that is in progress or was interrupted by a
        /// crash. The next opening of the journal cuts them off.
        case unfinished(Damage)
        /// Sequence numbers that are missing from the segments.
        case gap(RecoveryReport.Gap)
        /// A segment that retention removed while the segments before it were read.
        case retired(SegmentName)
        /// A frame or a segment outside the selection, which was not read.
        case passed
        /// The end of the journal.
        case end
    }

    private let files: any FileSystem
    private let selection: FrameSelection?
    /// The segments that are not read yet.
    private var names: ArraySlice<SegmentName>
    private var frames: FrameReader?
    /// Why the current segment cannot be opened, if the gap before it had to be returned first.
    private var failure: FileError?
    /// The size of the current segment when its reading began.
    private var size = 0
    /// The expected sequence number of the next event; `nil` before the first.
    private var expected: UInt64?

    /// The current segment.
    package private(set) var segment: SegmentName?
    /// The number of segments whose reading began.
    package private(set) var segmentCount = 0
    /// The size of the segments that are finished.
    private var doneBytes = 0
    /// The number of bytes that were read or skipped.
    package private(set) var byteCount = 0

    /// Starts with the segment that holds a sequence number; if it was removed, with the first segment.
    package init(
        _ files: any FileSystem,
        from sequence: UInt64 = 0,
        selecting selection: FrameSelection? = nil
    ) throws(FileError) {
        self.files = files
        self.selection = selection
        let all = try files.segmentNames()
        names = all[(all.lastIndex { $0.firstSequence <= sequence } ?? all.startIndex)...]
    }

    /// Reads the next frame, or finds damage.
    ///
    /// - Throws: If a file cannot be read.
    package mutating func next() throws(FileError) -> Step {
        defer { byteCount = doneBytes + (frames?.offset ?? 0) }
        if let failure = failure.take() { throw failure }
        while true {
            let offset = frames?.offset ?? 0
            switch try frames?.next() ?? .end {
            case .frame(let header, let lines):
                return .frame(header, lines: lines, skipped: advance(over: header, at: offset))
            case .passed(let header):
                _ = advance(over: header, at: offset)
                return .passed
            case .damage(let damage):
                return names.isEmpty && frames?.isAtEnd ?? true ? .unfinished(damage) : .damage(damage)
            case .end:
                leaveSegment()
                guard let name = names.popFirst() else { return .end }
                if let step = try begin(name) { return step }
            }
        }
    }

    /// Skips the current segment, if it cannot be read.
    package mutating func passSegment() {
        leaveSegment()
        // The number of its events is unknown.
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
            frames =
                names.isEmpty
                ? try FrameReader(last: file, name: name.text, selecting: selection)
                : FrameReader(file, name: name.text, to: size, selecting: selection)
        } catch {
            guard error.isMissing else {
                guard let gap = step(into: name) else { throw error }
                failure = error
                return gap
            }
            expected = nil
            // Before the first segment was read, it does not matter when this one was removed.
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

    /// Moves to the next segment; returns the gap before it, if there is one.
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
