/// Finds out what a journal's folder holds, and makes the end of its last segment one to which nothing is appended.
///
/// Only the last segment is read, and those that were not ended as they should be: of the others the frame that ends
/// them says enough. Damage inside of them comes to light when they are read, or by a verification.
package struct Recovery {
    /// The segments, in order.
    package private(set) var segments: [Segment] = []
    /// What is to be told.
    package private(set) var report = RecoveryReport()
    /// The number that the next event gets.
    package private(set) var nextSequence: UInt64 = 0

    /// When the last commit that it found was made, in microseconds since 1970; `nil` where it found none.
    private(set) var lastCommit: Int64?

    /// Where frames begin, at the journal's end, that only a newer program can read.
    private(set) var newerFormat: Damage?

    private let files: any FileSystem
    private let now: Int64
    /// Whether everything that was published up to here was synced.
    private var isSynced = true

    /// How far the numbers jump after commits that were published, but may be lost: no tracker's cursor is beyond that.
    static let jump: UInt64 = 1 << 32

    /// Recovers the journal in a folder; `now` is in microseconds since 1970.
    ///
    /// - Throws: Where a file cannot be read, or the last one not be ended.
    package init(_ files: any FileSystem, now: Int64) throws(FileError) {
        self.files = files
        self.now = now
        let names = try files.names().compactMap { SegmentName($0) }.sorted()
        for (position, name) in names.enumerated() {
            noteGap(before: name, isFirst: position == 0)
            let file = try files.open(name.text, creates: false)
            if let segment = try ended(name, file) {
                add(segment)
            } else if position == names.count - 1 {
                try end(name, file)
            } else {
                let (segment, damages) = try scan(name, file)
                report.damages += damages
                add(segment)
            }
        }
        // The segments that followed may be lost.
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
        // What stands before the first segment was retired.
        if isFirst {
            nextSequence = name.firstSequence
        } else if name.firstSequence > nextSequence {
            report.gaps.append(.init(from: nextSequence, to: name.firstSequence, before: name.text))
        }
        nextSequence = max(nextSequence, name.firstSequence)
    }

    /// What the end of a segment says that was ended; `nil` where it was not.
    private mutating func ended(_ name: SegmentName, _ file: any JournalFile) throws(FileError) -> Segment? {
        guard let (segment, end) = try Segment.ended(name, file) else { return nil }
        isSynced = end.isSynced
        return segment
    }

    /// Reads a whole segment that was not ended.
    private mutating func scan(
        _ name: SegmentName,
        _ file: any JournalFile
    ) throws(FileError) -> (Segment, [Damage]) {
        let scan = try SegmentScan(name, file)
        isSynced = scan.last?.isSynced ?? false
        return (scan.segment, scan.damages)
    }

    /// Cuts off what a crash left unfinished at the end of the last segment, and ends it.
    private mutating func end(_ name: SegmentName, _ file: any JournalFile) throws(FileError) {
        var (segment, damages) = try scan(name, file)
        if let tail = damages.last, tail.offset + tail.byteCount == segment.byteCount {
            if case .header(.newerFormat) = tail.flaw { return newerFormat = tail }
            damages.removeLast()
            let keptIn = try keep(tail, of: file)
            try file.truncate(to: tail.offset)
            segment.byteCount = tail.offset
            // However many events it was, it was fewer than bytes.
            segment.nextSequence &+= UInt64(tail.byteCount)
            report.cuts.append(.init(damage: tail, keptIn: keptIn))
        }
        report.damages += damages
        if !isSynced { segment.nextSequence &+= Self.jump }
        isSynced = true
        noteCommits(of: segment)
        let hasCommits = segment.committedAt > .min
        segment.reserveName()
        segment.append(try SegmentWriter.writeEnd(of: segment, to: file, isSynced: true, now: now))
        let lastCommit = lastCommit
        add(segment)
        // The end of a segment without events has the time of this opening.
        if !hasCommits { self.lastCommit = lastCommit }
    }

    private func keep(_ damage: Damage, of file: any JournalFile) throws(FileError) -> String {
        let names = try files.names()
        var name = "\(damage.segment).\(damage.offset).cut"
        var number = 1
        while names.contains(name) {
            number += 1
            name = "\(damage.segment).\(damage.offset).\(number).cut"
        }
        let copy = try files.create(name)
        try file.copy(damage.range, to: copy, at: 0)
        try copy.sync()
        try files.syncFolder()
        return name
    }
}
