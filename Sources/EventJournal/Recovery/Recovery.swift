/// Scans a journal's folder when it is opened, cuts off an unfinished commit, and ends the last segment.
///
/// Only the last segment and segments without an end frame are read; for the others the end frame suffices. Damage inside them
/// is found when they are read, or by a verification.
package struct Recovery {
    /// The segments, in order.
    package private(set) var segments: [Segment] = []
    /// The findings.
    package private(set) var report = RecoveryReport()
    /// The sequence number of the next event.
    package private(set) var nextSequence: UInt64 = 0

    /// The time of the last commit found, in microseconds since 1970; `nil` if there is none.
    private(set) var lastCommit: Int64?

    /// Frames at the end of the journal that only a newer version can read.
    private(set) var newerFormat: Damage?

    /// The first segment at a wrong place; nothing was changed then, and no later segment was read.
    private(set) var misplaced: MisplacedSegment?

    private let files: any FileSystem
    private let now: Int64
    /// Whether every commit so far was synced before it was published.
    private var isSynced = true

    /// How far the sequence numbers jump at a start after unsynced commits.
    ///
    /// A power failure may have lost such commits after a tracker had delivered them. Without the jump, new events would get their
    /// numbers, and the tracker's cursor, which is ahead of them, would skip the new events.
    static let jump: UInt64 = 1 << 32

    /// Recovers the journal in a folder; `now` is in microseconds since 1970.
    ///
    /// - Throws: If a file cannot be read, or the last segment cannot be ended.
    package init(_ files: any FileSystem, now: Int64) throws(FileError) {
        self.files = files
        self.now = now
        let names = try files.segmentNames()
        for (position, name) in names.enumerated() {
            let file = try files.open(name.text, creates: false)
            // New segments would collide with it, and readers would skip its events.
            misplaced = try MisplacedSegment(name, file, expecting: position == 0 ? nil : nextSequence)
            guard misplaced == nil else { return }
            noteGap(before: name, isFirst: position == 0)
            if let segment = try ended(name, file) {
                add(segment)
            } else if position == names.count - 1 {
                try end(name, file)
            } else {
                let scan = try scan(name, file, isLast: false)
                report.damages += scan.damages
                add(scan.segment)
            }
        }
        // Segments after it may be lost.
        if !isSynced { nextSequence &+= Self.jump }
    }

    private mutating func add(_ segment: Segment) {
        noteCommits(of: segment)
        segments.append(segment)
        nextSequence = max(nextSequence, segment.nextSequence)
    }

    private mutating func noteCommits(of segment: Segment) {
        guard segment.committedAt > .min else { return }
        lastCommit = max(lastCommit ?? .min, segment.committedAt)
    }

    private mutating func noteGap(before name: SegmentName, isFirst: Bool) {
        // Events before the first segment were removed by retention.
        if isFirst {
            nextSequence = name.firstSequence
        } else if name.firstSequence > nextSequence {
            report.gaps.append(.init(from: nextSequence, to: name.firstSequence, before: name.text))
        }
        nextSequence = max(nextSequence, name.firstSequence)
    }

    /// A segment as its end frame describes it; `nil` if it has none.
    private mutating func ended(_ name: SegmentName, _ file: any JournalFile) throws(FileError) -> Segment? {
        guard let (segment, end) = try Segment.ended(name, file) else { return nil }
        isSynced = end.isSynced
        return segment
    }

    /// Reads a whole segment that has no end frame.
    private mutating func scan(
        _ name: SegmentName,
        _ file: any JournalFile,
        isLast: Bool
    ) throws(FileError) -> SegmentScan {
        let scan = try SegmentScan(name, file, isLast: isLast)
        isSynced = scan.last?.isSynced ?? false
        return scan
    }

    /// How many events the damaged bytes at the end of a file can have had.
    private func maximumEvents(in tail: Damage, of file: any JournalFile) throws(FileError) -> Int {
        if let header = try FrameHeader.read(file, at: tail.offset) { return max(header.count, tail.byteCount) }
        // An event has at least one byte. Lost bytes at the end read as zeros, so everything up to the end of the file counts.
        return try file.size() - tail.offset
    }

    /// Cuts off what a crash left unfinished at the end of the last segment, and ends it.
    private mutating func end(_ name: SegmentName, _ file: any JournalFile) throws(FileError) {
        let scan = try scan(name, file, isLast: true)
        var segment = scan.segment
        if let tail = scan.tail {
            if case .header(.newerFormat) = tail.flaw { return newerFormat = tail }
            let keptIn = try CutFile.keep(tail, of: file, in: files)
            try files.syncFolder()
            segment.nextSequence &+= UInt64(try maximumEvents(in: tail, of: file))
            try file.truncate(to: tail.offset)
            segment.byteCount = tail.offset
            report.cuts.append(.init(damage: tail, keptIn: keptIn))
        }
        report.damages += scan.damages.dropLast(scan.tail == nil ? 0 : 1)
        if !isSynced { segment.nextSequence &+= Self.jump }
        isSynced = true
        noteCommits(of: segment)
        let hasCommits = segment.committedAt > .min
        segment.reserveName()
        segment.append(try SegmentWriter.writeEnd(of: segment, to: file, isSynced: true, now: now))
        let lastCommit = lastCommit
        add(segment)
        // The end frame of a segment without events has the time of this opening.
        if !hasCommits { self.lastCommit = lastCommit }
    }
}
