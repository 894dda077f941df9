/// Reads a journal forward from a sequence number, while it is being written.
package struct JournalReader: ~Copyable {
    /// What comes next.
    package enum Step {
        /// A commit that has the sought number or comes behind it, and its lines; valid until the next call.
        case frame(FrameHeader, lines: UnsafeRawBufferPointer)
        /// Bytes that are no frame; the events in them are lost to this reader.
        case damage(Damage)
        /// Nothing more is committed so far.
        case caughtUp
    }

    private let files: any FileSystem
    private let position: @Sendable () -> JournalPosition
    private var frames: FrameReader?
    private var segment: SegmentName?
    /// The segment that was opened last, or that could not be.
    private var opened: Segment?
    /// Where in the segment the bytes ended when they were last looked at.
    private var readableBytes = 0

    /// The number of the first event that is still to be read.
    package private(set) var nextSequence: UInt64

    /// Begins at a number; where it is no longer there, at the first behind it.
    package init(
        _ files: any FileSystem,
        from sequence: UInt64,
        position: @escaping @Sendable () -> JournalPosition
    ) {
        self.files = files
        self.position = position
        nextSequence = sequence
    }

    /// The next commit, or what is wrong there.
    ///
    /// - Throws: Where a file cannot be read.
    package mutating func next() throws(FileError) -> Step {
        while true {
            do throws(FileError) {
                guard try openFrames() else { return .caughtUp }
            } catch {
                guard error.isMissing else { throw error }
                guard let opened, position().segments.contains(where: { $0.name == opened.name }) else { continue }
                if let damage = passSegment(.missing) { return .damage(damage) }
            }
            switch try frames?.next() ?? .end {
            case .frame(let header, let lines):
                if header.kind == .end {
                    nextSequence = max(nextSequence, header.firstSequence)
                } else if header.nextSequence > nextSequence {
                    nextSequence = header.nextSequence
                    return .frame(header, lines: lines)
                }
            case .passed(let header):
                nextSequence = max(nextSequence, header.nextSequence)
            case .damage(let damage):
                return .damage(damage)
            case .end:
                frames = nil
            }
        }
    }

    /// Passes over what is left of a segment that cannot be read; returns what that is, `nil` where none was opened.
    package mutating func passSegment(_ flaw: Damage.Flaw) -> Damage? {
        guard let opened else { return nil }
        let start = frames?.offset ?? (opened.name == segment ? readableBytes : 0)
        frames = nil
        segment = opened.name
        readableBytes = opened.byteCount
        nextSequence = max(nextSequence, opened.nextSequence)
        return Damage(segment: opened.name.text, offset: start, byteCount: opened.byteCount - start, flaw: flaw)
    }

    /// Makes sure that there are frames to be read; false where everything committed was.
    private mutating func openFrames() throws(FileError) -> Bool {
        if frames != nil { return true }
        let position = position()
        guard let index = index(in: position.segments) else { return false }
        let next = position.segments[index]
        let isSame = next.name == segment
        guard !isSame || next.byteCount > readableBytes else {
            guard index + 1 < position.segments.count else { return false }
            return try open(position.segments[index + 1], from: 0)
        }
        return try open(next, from: isSame ? readableBytes : 0)
    }

    /// The segment to read now: the one at hand, as long as it is there, else the one that has the sought number.
    private func index(in segments: [Segment]) -> Int? {
        if let segment, let index = segments.firstIndex(where: { $0.name >= segment }) { return index }
        if segment != nil { return nil }
        return segments.lastIndex { $0.name.firstSequence <= nextSequence } ?? segments.indices.first
    }

    private mutating func open(_ segment: Segment, from offset: Int) throws(FileError) -> Bool {
        opened = segment
        let file = try files.open(segment.name.text, creates: false)
        self.segment = segment.name
        readableBytes = segment.byteCount
        // Where it begins in the middle, what comes before need not be read.
        let isBegun = segment.name.firstSequence < nextSequence
        frames = FrameReader(
            file,
            name: segment.name.text,
            from: offset,
            to: segment.byteCount,
            selecting: isBegun && offset == 0 ? FrameSelection(firstSequence: nextSequence) : nil
        )
        return true
    }
}
