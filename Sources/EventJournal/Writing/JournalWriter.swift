/// The one writer of a journal: each commit is a frame, and is on disk as the durability says when it returns.
///
/// A commit that fails has not happened: its numbers go to the next one, and its place in the file.
package struct JournalWriter: ~Copyable {
    private let journal: Journal
    private var current: SegmentWriter?
    /// The segment whose file this writer has made, perhaps without getting as far as to use it.
    private var made: SegmentName?
    /// Whether commits are written that are not synced.
    private var isDirty = false

    /// Begins a new segment with the first commit; a journal has one writer at a time.
    package init(_ journal: Journal) {
        self.journal = journal
    }

    /// Commits events together; returns the number of the first.
    ///
    /// - Throws: `full`, `unwritable` and, beyond 64 MiB, `tooLarge`; then nothing was committed.
    package mutating func commit(_ entries: [any JournalEntry], now: Int64) throws(JournalError) -> UInt64 {
        let bytes = entries.reduce(FrameHeader.byteCount) { $0 + $1.lines.count }
        guard bytes <= FrameReader.maximumPayloadBytes else {
            throw JournalError(.tooLarge, "A commit of \(bytes) bytes is more than one frame of the journal takes.")
        }
        try checkRoom(for: bytes)
        do throws(FileError) {
            let first = try makeRoom(for: bytes, now: now)
            let syncs = journal.configuration.durability.syncsEachCommit
            let frame = Frame(entries, firstSequence: first, isSynced: syncs, now: now)
            try current?.append(frame, syncs: syncs)
            if let segment = current?.segment { journal.committed(segment) }
            isDirty = !syncs
            return first
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// Releases the system's memory of what is synced and older than what `needed` tells to be needed.
    package mutating func releaseMemory(needed: () -> UInt64) {
        current?.releaseMemory(needed: needed)
    }

    /// Makes all commits survive a loss of power.
    package mutating func sync() throws(JournalError) {
        guard isDirty else { return }
        do throws(FileError) {
            try current?.sync()
            isDirty = false
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// Ends the last segment where its first commit was made so long ago, and begins the next, which may stay empty: what
    /// retention takes are segments before the last.
    ///
    /// - Throws: `unwritable`; then the next commit goes on as it can.
    package mutating func renewSegment(after age: Duration, now: Int64) throws(JournalError) {
        guard let last = journal.position.segments.last, !last.isEmpty else { return }
        let lastAge = current?.begunAt.map { .from($0, to: now) } ?? journal.ages.age(of: last, now: now)
        guard lastAge >= age else { return }
        do throws(FileError) {
            try endSegment(now: now)
            if current == nil { try beginSegment() }
            if let segment = current?.segment { journal.committed(segment) }
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// Ends the last segment, so that the next opening finds everything as it should be.
    package consuming func close(now: Int64) throws(JournalError) {
        guard let segment = current?.segment else { return }
        do throws(FileError) {
            guard segment.byteCount > 0 || journal.position.segments.last?.name == segment.name else {
                // Its name is that of the segment to come.
                try journal.files.remove(segment.name.text)
                return try journal.files.syncFolder()
            }
            try current?.end(isSynced: true, now: now)
            if let segment = current?.segment { journal.committed(segment) }
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// Whether there is room for a commit of so many bytes of lines.
    package borrowing func hasRoom(forBytes bytes: Int) -> Bool {
        (try? checkRoom(for: FrameHeader.byteCount + bytes)) != nil
    }

    private func checkRoom(for bytes: Int) throws(JournalError) {
        let configuration = journal.configuration
        let used = journal.position.byteCount
        guard bytes <= configuration.maximumBytes - used else {
            throw JournalError(
                .full,
                "The journal has \(used) bytes and may have \(configuration.maximumBytes)."
            )
        }
        let free = try freeBytes()
        guard configuration.minimumFreeBytes == 0 || free - bytes >= configuration.minimumFreeBytes else {
            throw JournalError(
                .full,
                "The disk has \(free) bytes left, of which \(configuration.minimumFreeBytes) must stay free."
            )
        }
    }

    private func freeBytes() throws(JournalError) -> Int {
        do throws(FileError) {
            return try journal.files.freeBytes()
        } catch {
            throw JournalError(.unreadable, error)
        }
    }

    /// Ends the segment at hand where the commit would make it too large, and begins the next; returns the number that
    /// the commit gets.
    private mutating func makeRoom(for bytes: Int, now: Int64) throws(FileError) -> UInt64 {
        if let current {
            let segment = current.segment
            let end = segment.byteCount + bytes + FrameHeader.byteCount
            let fits = segment.byteCount == 0 || end <= journal.configuration.segmentBytes
            if fits, !current.isEnding { return segment.nextSequence }
            try endSegment(now: now)
        }
        try beginSegment()
        return journal.position.nextSequence
    }

    /// Makes the file of the next segment.
    private mutating func beginSegment() throws(FileError) {
        let name = SegmentName(firstSequence: journal.position.nextSequence)
        current = try SegmentWriter(journal.files, name, made: &made)
    }

    /// Ends the segment at hand, if it has frames.
    private mutating func endSegment(now: Int64) throws(FileError) {
        guard let segment = current?.segment, segment.byteCount > 0 else { return }
        try current?.end(isSynced: journal.configuration.durability != .none, now: now)
        if let ended = current?.segment { journal.committed(ended) }
        current = nil
    }
}
