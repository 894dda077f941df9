/// Reads a journal forward from a sequence number, while it is being written.
package struct JournalReader: ~Copyable {
    /// The next part of the journal.
    package enum Step {
        /// A commit that holds or follows the wanted sequence number, and its lines, which are valid until the next call.
        case frame(FrameHeader, lines: UnsafeRawBufferPointer)
        /// Bytes that are not a valid frame; the reader skips the events in them.
        case damage(Damage)
        /// Everything committed was read.
        case caughtUp
    }

    private let files: any FileSystem
    private let position: @Sendable () -> JournalPosition
    private var frames: FrameReader?
    private var segment: SegmentName?
    /// The segment that was opened last, successfully or not.
    private var opened: Segment?
    /// The committed end of the segment when it was last opened.
    private var readableBytes = 0

    /// The sequence number of the next event to read.
    package private(set) var nextSequence: UInt64

    /// Starts at a sequence number; if it was removed, at the next one.
    package init(
        _ files: any FileSystem,
        from sequence: UInt64,
        position: @escaping @Sendable () -> JournalPosition
    ) {
        self.files = files
        self.position = position
        nextSequence = sequence
    }

    /// Reads the next commit, or finds damage.
    ///
    /// - Throws: If a file cannot be read.
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

    /// Skips the rest of a segment that cannot be read; returns it as damage, or `nil` if no segment was opened.
    package mutating func passSegment(_ flaw: Damage.Flaw) -> Damage? {
        guard let opened else { return nil }
        let start = frames?.offset ?? (opened.name == segment ? readableBytes : 0)
        frames = nil
        segment = opened.name
        readableBytes = opened.byteCount
        nextSequence = max(nextSequence, opened.nextSequence)
        return Damage(segment: opened.name.text, offset: start, byteCount: opened.byteCount - start, flaw: flaw)
    }

    /// Opens the next frames if necessary; false if everything committed was read.
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

    /// The index of the segment to read: the current one if it still exists, else the one with the wanted sequence number.
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
        // Events before the wanted one in the same segment need not be read.
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

extension Journal {
    /// The sequence number of the first event of the first commit with an event at or after a time, in microseconds since 1970;
    /// that of the next event if there is none.
    ///
    /// Usually reads the headers of one segment and the lines of one frame. Damage is skipped.
    package func sequence(ofEventsFrom time: Int64) throws(JournalError) -> UInt64 {
        let position = position
        let selection = FrameSelection(times: time ... .max)
        do throws(FileError) {
            for segment in position.segments where selection.wants(segment) {
                let file = try files.open(segment.name.text, creates: false)
                var frames = FrameReader(
                    file,
                    name: segment.name.text,
                    to: segment.byteCount,
                    selecting: selection
                )
                if let found = try Self.firstEvents(in: &frames) { return found.firstSequence }
            }
        } catch {
            throw JournalError(.unreadable, error)
        }
        return position.nextSequence
    }

    /// When the first event at or after a sequence number was committed, in microseconds since 1970; `nil` if there is none.
    ///
    /// Reads the headers of one segment and the lines of one frame. Damage is skipped.
    package func commitTime(ofEventsFrom sequence: UInt64) throws(JournalError) -> Int64? {
        var reader = reader(from: sequence)
        do throws(FileError) {
            while true {
                switch try reader.next() {
                case .frame(let header, _): return header.committedAt
                case .damage: continue
                case .caughtUp: return nil
                }
            }
        } catch {
            throw JournalError(.unreadable, error)
        }
    }

    private static func firstEvents(in frames: inout FrameReader) throws(FileError) -> FrameHeader? {
        while true {
            switch try frames.next() {
            case .frame(let header, _) where header.kind == .events: return header
            case .frame, .passed, .damage: continue
            case .end: return nil
            }
        }
    }
}
