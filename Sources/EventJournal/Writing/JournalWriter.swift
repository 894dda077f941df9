/// The single writer of a journal: each commit is a frame, and is as durable as configured when it returns.
///
/// A commit that fails has no effect: the next one gets its sequence numbers and its place in the file.
package struct JournalWriter: ~Copyable {
    /// Runs a sync of the journal's file, so that its time can be measured.
    package typealias Syncing = @Sendable (_ sync: () throws(FileError) -> Void) throws(FileError) -> Void

    private let journal: Journal
    private let syncing: Syncing
    private var current: SegmentWriter?
    /// The segment whose file this writer created last, even if it could not be used.
    private var made: SegmentName?
    /// Whether there are unsynced commits.
    private var isDirty = false

    /// Makes a writer, which begins a new segment at its first commit; a journal has one writer at a time.
    package init(
        _ journal: Journal,
        syncing: @escaping Syncing = { sync throws(FileError) in try sync() }
    ) {
        self.journal = journal
        self.syncing = syncing
    }

    /// Commits events together; returns the sequence number of the first.
    ///
    /// - Throws: `full`, `unwritable`, or `tooLarge` beyond 64 MiB; then nothing was committed.
    package mutating func commit(_ entries: [any JournalEntry], now: Int64) throws(JournalError) -> UInt64 {
        let prefixBytes = Frame.prefixBytes(of: entries)
        let bytes = entries.reduce(prefixBytes) { $0 + $1.lines.count }
        guard bytes <= FrameReader.maximumPayloadBytes else {
            throw JournalError(.tooLarge, "A commit of \(bytes) bytes is larger than a frame of the journal may be.")
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

    /// Commits lines, each with its newline, as one frame; returns the sequence number of the first.
    ///
    /// - Throws: As `commit(_:now:)`.
    package mutating func commit(lines: [UInt8], count: Int, now: Int64) throws(JournalError) -> UInt64 {
        try lines.withUnsafeBufferPointer { lines throws(JournalError) in
            try commit([LentLines(lines: UnsafeRawBufferPointer(lines), count: count, times: now...now)], now: now)
        }
    }

    /// Releases the page cache of synced events that come before the sequence number that `needed` returns.
    package mutating func releaseMemory(needed: () -> UInt64) {
        current?.releaseMemory(needed: needed)
    }

    /// Whether the next commits will take less time to sync after `preallocate()`.
    package borrowing func wantsPreallocation() -> Bool {
        let configuration = journal.configuration
        return configuration.durability.syncsEachCommit && current?.wantsPreallocation(configuration) ?? false
    }

    /// Preallocates bytes for the next commits if the limits leave room; a failure does not matter.
    package mutating func preallocate() {
        let bytes = journal.configuration.preallocationBytes
        guard wantsPreallocation(), hasRoom(forBytes: bytes) else { return }
        current?.preallocate(bytes)
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

    /// Ends the last segment if its first commit is as old as `age`, and begins the next, because retention never removes the
    /// last segment.
    ///
    /// - Throws: `unwritable`; later commits are still possible.
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

    /// Ends the last segment, so that the next opening need not recover anything.
    package consuming func close(now: Int64) throws(JournalError) {
        guard let segment = current?.segment else { return }
        do throws(FileError) {
            guard segment.byteCount > 0 || journal.position.segments.last?.name == segment.name else {
                // The next segment will have the same name.
                try journal.files.remove(segment.name.text)
                return try journal.files.syncFolder()
            }
            try current?.end(isSynced: true, now: now)
            if let segment = current?.segment { journal.committed(segment) }
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// Whether there is room for a commit with the given number of bytes of lines.
    package borrowing func hasRoom(forBytes bytes: Int) -> Bool {
        (try? checkRoom(for: Frame.maximumPrefixBytes + bytes)) != nil
    }

    /// Asks the system how much space the disk has, which commits do as well.
    package borrowing func noteFreeSpace() throws(JournalError) {
        if journal.configuration.minimumFreeBytes > 0 { _ = try freeBytes() }
    }

    private func checkRoom(for bytes: Int) throws(JournalError) {
        let configuration = journal.configuration
        let used = journal.position.byteCount
        guard bytes <= configuration.maximumBytes - used else {
            throw JournalError(
                .full,
                "The journal has \(used) bytes, and its limit is \(configuration.maximumBytes)."
            )
        }
        guard configuration.minimumFreeBytes > 0 else { return }
        let free = try freeBytes()
        guard free - bytes >= configuration.minimumFreeBytes else {
            throw JournalError(
                .full,
                "The disk has \(free) bytes left, and \(configuration.minimumFreeBytes) must stay free."
            )
        }
    }

    private func freeBytes() throws(JournalError) -> Int {
        do throws(FileError) {
            let bytes = try journal.files.freeBytes()
            journal.note(freeBytes: bytes)
            return bytes
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// Ends the current segment if the commit would make it too large, and begins the next; returns the sequence number for
    /// the commit.
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

    /// Creates the file of the next segment.
    private mutating func beginSegment() throws(FileError) {
        let name = SegmentName(firstSequence: journal.position.nextSequence)
        current = try SegmentWriter(journal.files, name, made: &made, syncing: syncing)
    }

    /// Ends the current segment, if it has frames.
    private mutating func endSegment(now: Int64) throws(FileError) {
        guard let segment = current?.segment, segment.byteCount > 0 else { return }
        try current?.end(isSynced: journal.configuration.durability != .none, now: now)
        if let ended = current?.segment { journal.committed(ended) }
        current = nil
    }
}
