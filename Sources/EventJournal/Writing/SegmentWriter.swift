/// Appends frames to one segment.
struct SegmentWriter {
    /// After so many bytes the system may be told that it can forget them.
    private static let releaseBytes = 8 << 20

    private let file: any JournalFile
    /// Up to where the memory of what is synced can be released, once nobody needs the events before a number.
    private var releases: [(sequence: UInt64, offset: Int)] = []
    private var lastRelease = 0
    /// What the segment holds so far.
    private(set) var segment: Segment
    /// Whether its end was begun.
    ///
    /// The frame that ends it may then be on disk: were others put in its place, and lost in a crash, it would say that
    /// they had never been, and their numbers would be given again.
    private(set) var isEnding = false
    /// Up to where everything is known to survive a crash.
    private var syncedBytes = 0
    private var hasFailedToSync = false
    /// When its first frame was committed, in microseconds since 1970; `nil` where it has none.
    private(set) var begunAt: Int64?

    /// Makes the segment's file, and notes in `made` that it has.
    ///
    /// It survives a crash whatever the durability, empty at worst: recovery must know that there were events. A file that is there
    /// is an error, because it may hold events that were acknowledged; only an empty one that this writer made before, when the
    /// folder could not be synced, is none.
    init(_ files: any FileSystem, _ name: SegmentName, made: inout SegmentName?) throws(FileError) {
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

    /// Appends a frame; where it throws, nothing was appended, and the next frame takes its place.
    mutating func append(_ frame: Frame, syncs: Bool) throws(FileError) {
        do {
            try frame.write(to: file, at: segment.byteCount)
            if syncs { try file.sync() }
        } catch {
            // What was written of it is overwritten by the next frame; where there is none, recovery cuts it off.
            try? file.truncate(to: segment.byteCount)
            throw error
        }
        segment.append(frame.header)
        begunAt = begunAt ?? frame.header.committedAt
        if syncs { noteSynced() }
    }

    /// Releases the system's memory of what is synced and nobody needs any more; `needed` tells the oldest event that
    /// somebody does.
    ///
    /// A journal is written without end and hardly read: kept in memory, it would drive out what others read, and on a
    /// virtual machine each new page of memory costs the host a fault, which here took as long as the sync.
    mutating func releaseMemory(needed: () -> UInt64) {
        guard !releases.isEmpty else { return }
        let needed = needed()
        guard let last = releases.lastIndex(where: { $0.sequence <= needed }) else { return }
        file.releaseMemory(before: releases[last].offset)
        releases.removeSubrange(...last)
    }

    /// Makes everything appended so far survive a crash.
    ///
    /// After one that threw, the next call writes again what was to be saved, as far as the system still has it; what it
    /// has not is lost for good, for which this throws once.
    mutating func sync() throws(FileError) {
        let isWhole = try hasFailedToSync ? rewrite() : true
        do {
            try file.sync()
        } catch {
            hasFailedToSync = true
            throw error
        }
        hasFailedToSync = false
        noteSynced()
        guard isWhole else { throw FileError("rewrite", segment.name.text, PosixErrors.input) }
    }

    private mutating func noteSynced() {
        syncedBytes = segment.byteCount
        guard syncedBytes - lastRelease >= Self.releaseBytes else { return }
        lastRelease = syncedBytes
        releases.append((segment.nextSequence, syncedBytes))
    }

    /// Writes again what a failed sync was to save; returns whether that is all there.
    ///
    /// The system takes it for written, and would not try again.
    private func rewrite() throws(FileError) -> Bool {
        // Page by page, because the system may have forgotten some, and the disk may not give those.
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

    /// Whether there are good frames from an offset on, and nothing else.
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

    /// Ends the segment: nothing is appended to it any more; where it throws, it is to be ended before anything else.
    mutating func end(isSynced: Bool, now: Int64) throws(FileError) {
        isEnding = true
        if isSynced, hasFailedToSync { try sync() }
        var ended = segment
        ended.reserveName()
        do {
            ended.append(try Self.writeEnd(of: ended, to: file, isSynced: isSynced, now: now))
        } catch {
            // What the segment has may have been in the sync that failed.
            hasFailedToSync = hasFailedToSync || isSynced
            throw error
        }
        segment = ended
    }

    /// Writes the frame that ends a segment.
    static func writeEnd(
        of segment: Segment,
        to file: any JournalFile,
        isSynced: Bool,
        now: Int64
    ) throws(FileError) -> FrameHeader {
        // The time of the last commit, so that a segment does not become younger by its end.
        let committedAt = segment.committedAt > .min ? segment.committedAt : now
        var header = FrameHeader(firstSequence: segment.nextSequence, committedAt: committedAt)
        header.kind = .end
        header.isSynced = isSynced
        header.earliest = segment.earliest
        header.latest = segment.latest
        header.payloadChecksum = Checksum.of(UnsafeRawBufferPointer(start: nil, count: 0))
        try withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) { bytes throws(FileError) in
            header.write(to: bytes)
            try file.write(UnsafeRawBufferPointer(bytes), at: segment.byteCount)
        }
        // Of a commit that failed there may be bytes behind.
        try file.truncate(to: segment.byteCount + header.frameBytes)
        if isSynced { try file.sync() }
        return header
    }
}
