/// Appends frames to one segment.
struct SegmentWriter {
    /// The page cache is released in steps of this size.
    private static let releaseBytes = 8 << 20
    /// For larger frames nothing is preallocated: they gain little, and each byte is written twice.
    private static let smallFrameBytes = 64 << 10

    private let file: any JournalFile
    private let syncing: JournalWriter.Syncing
    /// The offsets up to which the page cache can be released, once no event before the sequence number is needed.
    private var releases: [(sequence: UInt64, offset: Int)] = []
    private var lastRelease = 0
    /// The segment's metadata so far.
    private(set) var segment: Segment
    /// Whether writing the end frame was attempted.
    ///
    /// The end frame may then be on disk. If events were written in its place and lost in a crash, it would reappear, and their
    /// sequence numbers would be reused.
    private(set) var isEnding = false
    /// The size of the last frame, in bytes.
    private var lastFrameBytes = 0
    /// The end of the preallocated zeros after the segment's committed part.
    private var preallocatedEnd = 0
    private var hasFailedToPreallocate = false
    /// The offset up to which everything is synced.
    private var syncedBytes = 0
    private var hasFailedToSync = false
    /// The time of the first commit, in microseconds since 1970; `nil` if there is none.
    private(set) var begunAt: Int64?

    /// Creates the segment's file, and records it in `made`.
    ///
    /// The file's entry is synced whatever the durability, because recovery must know that there were events. An existing file is
    /// an error, because it may hold acknowledged events, unless it is empty and this writer created it before, when the folder
    /// could not be synced.
    init(
        _ files: any FileSystem,
        _ name: SegmentName,
        made: inout SegmentName?,
        syncing: @escaping JournalWriter.Syncing
    ) throws(FileError) {
        self.syncing = syncing
        segment = Segment(name)
        do throws(FileError) {
            file = try files.create(name.text)
        } catch {
            guard error.isExisting, made == name else { throw error }
            file = try files.open(name.text, creates: false)
            guard try file.size() == 0 else { throw error }
        }
        made = name
        try files.syncFolder()
    }

    /// Appends a frame; if it throws, nothing was appended, and the next frame takes its place.
    mutating func append(_ frame: Frame, syncs: Bool) throws(FileError) {
        do {
            try frame.write(to: file, at: segment.byteCount)
            if syncs { try syncFile() }
        } catch {
            // A partly written frame is overwritten by the next one; if there is none, recovery cuts it off.
            try? file.truncate(to: segment.byteCount)
            // The sync may have failed because of the zeros.
            if preallocatedEnd > segment.byteCount { hasFailedToPreallocate = true }
            preallocatedEnd = segment.byteCount
            throw error
        }
        segment.append(frame.header)
        lastFrameBytes = frame.header.frameBytes
        begunAt = begunAt ?? frame.header.committedAt
        if syncs { noteSynced() }
    }

    /// Whether the next frame may not fit into the preallocated bytes, and more can be preallocated.
    func wantsPreallocation(_ configuration: JournalConfiguration) -> Bool {
        let bytes = configuration.preallocationBytes
        let isUsedUp = segment.byteCount + 2 * lastFrameBytes > preallocatedEnd
        let hasRoom = max(segment.byteCount, preallocatedEnd) + bytes <= configuration.segmentBytes
        return lastFrameBytes <= Self.smallFrameBytes && isUsedUp && hasRoom && !isEnding && !hasFailedToPreallocate
    }

    /// Preallocates bytes for the next frames, as zeros.
    ///
    /// A sync of a frame in their place need not record a new size and new blocks of the file.
    mutating func preallocate(_ bytes: Int) {
        let start = max(segment.byteCount, preallocatedEnd)
        do throws(FileError) {
            try withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 8) { zeros throws(FileError) in
                zeros.initializeMemory(as: UInt8.self, repeating: 0)
                try file.write(UnsafeRawBufferPointer(zeros), at: start)
            }
            preallocatedEnd = start + bytes
        } catch {
            hasFailedToPreallocate = true
            try? file.truncate(to: start)
        }
    }

    /// Releases the page cache of synced events that are no longer needed; `needed` returns the sequence number of the oldest
    /// event that is.
    ///
    /// A journal is written continuously and rarely read. Its pages would displace those of files that are read, and on a virtual
    /// machine each new page costs the host a page fault, which took as long as the sync.
    mutating func releaseMemory(needed: () -> UInt64) {
        guard !releases.isEmpty else { return }
        let needed = needed()
        guard let last = releases.lastIndex(where: { $0.sequence <= needed }) else { return }
        file.releaseMemory(before: releases[last].offset)
        releases.removeSubrange(...last)
    }

    /// Syncs everything appended so far.
    ///
    /// After a failed sync, the next call rewrites the unsynced bytes, as far as the system can still read them. Bytes that it
    /// cannot read are lost, for which this throws once.
    mutating func sync() throws(FileError) {
        let isWhole = try hasFailedToSync ? rewrite() : true
        do {
            try syncFile()
        } catch {
            hasFailedToSync = true
            throw error
        }
        hasFailedToSync = false
        noteSynced()
        guard isWhole else { throw FileError("rewrite", segment.name.text, PosixErrors.input) }
    }

    private func syncFile() throws(FileError) {
        try syncing { () throws(FileError) in try file.sync() }
    }

    private mutating func noteSynced() {
        syncedBytes = segment.byteCount
        guard syncedBytes - lastRelease >= Self.releaseBytes else { return }
        lastRelease = syncedBytes
        releases.append((segment.nextSequence, syncedBytes))
    }

    /// Rewrites the bytes of a failed sync; returns whether all of them were still readable.
    ///
    /// Without it, the system would consider them written and not try again.
    private func rewrite() throws(FileError) -> Bool {
        // Page by page, because some may have left the page cache and be unreadable on the disk.
        var isReadable = true
        try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { page throws(FileError) in
            var offset = syncedBytes
            while offset < segment.byteCount {
                let part = UnsafeMutableRawBufferPointer(rebasing: page.prefix(segment.byteCount - offset))
                var count = part.count
                do throws(FileError) {
                    count = try file.read(into: part, at: offset)
                    try file.write(UnsafeRawBufferPointer(rebasing: part.prefix(count)), at: offset)
                } catch {
                    guard error.isMediaError, error.operation == "read" else { throw error }
                    isReadable = false
                }
                if count == 0 { return }
                offset += count
            }
        }
        let isIntact = try isIntact(from: syncedBytes)
        return isReadable && isIntact
    }

    /// Whether there are only valid frames from an offset on.
    private func isIntact(from offset: Int) throws(FileError) -> Bool {
        var reader = FrameReader(file, name: segment.name.text, from: offset, to: segment.byteCount)
        do {
            while true {
                switch try reader.next() {
                case .frame, .passed: continue
                case .damage: return false
                case .end: return true
                }
            }
        } catch {
            guard error.isMediaError else { throw error }
            return false
        }
    }

    /// Writes the end frame, after which nothing is appended; if it throws, it has to be called again first.
    mutating func end(isSynced: Bool, now: Int64) throws(FileError) {
        isEnding = true
        if isSynced, hasFailedToSync { try sync() }
        var ended = segment
        ended.reserveName()
        do {
            ended.append(try Self.writeEnd(of: ended, to: file, isSynced: isSynced, now: now))
        } catch {
            // The failed sync may have included the segment's events.
            hasFailedToSync = hasFailedToSync || isSynced
            throw error
        }
        segment = ended
    }

    /// Writes the end frame of a segment.
    static func writeEnd(
        of segment: Segment,
        to file: any JournalFile,
        isSynced: Bool,
        now: Int64
    ) throws(FileError) -> FrameHeader {
        // The time of the last commit, so that the end frame does not make the segment look younger.
        let committedAt = segment.committedAt > .min ? segment.committedAt : now
        var header = FrameHeader(firstSequence: segment.nextSequence, committedAt: committedAt)
        header.kind = .end
        header.version = segment.version
        header.isSynced = isSynced
        header.earliest = segment.earliest
        header.latest = segment.latest
        header.payloadChecksum = Checksum.of(UnsafeRawBufferPointer(start: nil, count: 0))
        try withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) { bytes throws(FileError) in
            header.write(to: bytes)
            try file.write(UnsafeRawBufferPointer(bytes), at: segment.byteCount)
        }
        // Bytes of a failed commit may follow.
        try file.truncate(to: segment.byteCount + header.frameBytes)
        if isSynced { try file.sync() }
        return header
    }
}
