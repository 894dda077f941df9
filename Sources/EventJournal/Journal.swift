public import EventModel
import Synchronization

/// The write-ahead log: the durable, append-only log of accepted events, in a folder.
///
/// Events have sequence numbers in the order of their commits, from 0 up. A number is never reused, but numbers may be skipped
/// after a crash. The folder holds segments, each with the frames of many commits, the trackers' cursors (their offsets), and
/// the bytes that recovery cut off. All calls block, so they belong on a thread of their own.
public final class Journal: Sendable {
    /// The journal's identity, which stays the same each time it is opened.
    public let id: JournalID
    /// The journal's configuration.
    public let configuration: JournalConfiguration
    /// What recovery found when the journal was opened.
    package let recovery: RecoveryReport
    /// The time of the opening, by the wall clock, in microseconds since 1970.
    package let openedAt: Int64

    let files: any FileSystem
    /// Determines the age of segments.
    let ages: SegmentAges
    private let lock: FolderLock?
    private let state: Mutex<JournalPosition>
    /// The free space of the disk when it was last asked for; unlimited before that.
    private let freeBytes = Atomic(Int.max)

    /// Opens the journal in a folder, which is created if necessary, and locks it until the journal is released.
    ///
    /// `now` is the wall clock's time in microseconds since 1970. Later times are this one plus the time that a monotonic clock
    /// has measured since.
    ///
    /// - Throws: `locked` if another process has it open, `unreadable` or `unwritable` if the files cannot be used.
    public convenience init(folder: String, configuration: JournalConfiguration = .init(), now: Int64)
        throws(JournalError)
    {
        let files: PosixFileSystem
        do throws(FileError) {
            files = try PosixFileSystem(path: folder)
        } catch {
            throw JournalError(.unwritable, error)
        }
        try self.init(files, lock: FolderLock(folder: folder), configuration: configuration, now: now)
    }

    /// Opens the journal in any file system; `now` is in microseconds since 1970.
    package init(
        _ files: any FileSystem,
        lock: FolderLock? = nil,
        configuration: JournalConfiguration,
        now: Int64
    ) throws(JournalError) {
        let newer: Damage?
        let misplaced: MisplacedSegment?
        self.files = files
        self.lock = lock
        self.configuration = configuration
        openedAt = now
        let identity = try Self.identity(files)
        id = identity.id
        do throws(FileError) {
            let recovery = try Recovery(files, now: now)
            self.recovery = recovery.report.noting(lostIdentity: identity.isLost)
            newer = recovery.newerFormat
            misplaced = recovery.misplaced
            ages = SegmentAges(
                openedAt: now,
                lastCommit: recovery.lastCommit,
                firstSequence: recovery.nextSequence
            )
            state = Mutex(JournalPosition(segments: recovery.segments, nextSequence: recovery.nextSequence))
        } catch {
            throw JournalError(.unreadable, error)
        }
        if let newer {
            throw JournalError(.unreadable, "The journal needs a newer version of this program: \(newer).")
        }
        if let misplaced {
            throw JournalError(.unreadable, "The journal cannot be opened: \(misplaced).")
        }
        do throws(FileError) {
            try CutFile.removeOld(in: files, now: now)
        } catch {
            throw JournalError(.unreadable, error)
        }
        // If segments were lost, numbers that trackers have already passed are not reused.
        let furthest = try cursors().values.max() ?? 0
        state.withLock { $0.nextSequence = max($0.nextSequence, furthest) }
    }

    /// Reads the journal's identity, or makes one if there is none or it is unreadable.
    private static func identity(_ files: any FileSystem) throws(JournalError) -> (id: JournalID, isLost: Bool) {
        let isLost: Bool
        do throws(FileError) {
            if let id = try IdentityFile.read(files) { return (id, false) }
            isLost = try files.names().contains(IdentityFile.name)
        } catch {
            throw JournalError(.unreadable, error)
        }
        do throws(FileError) {
            return (try IdentityFile.make(files), isLost)
        } catch {
            throw JournalError(.unwritable, error)
        }
    }

    /// The committed end of the journal.
    package var position: JournalPosition { state.withLock { $0 } }

    /// How many more bytes fit, by the journal's own limit and by the disk's free space when that was last asked for.
    package var roomInBytes: Int {
        let free = freeBytes.load(ordering: .relaxed)
        let ofDisk = configuration.minimumFreeBytes > 0 ? free - configuration.minimumFreeBytes : .max
        return max(0, min(configuration.maximumBytes - position.byteCount, ofDisk))
    }

    func note(freeBytes bytes: Int) {
        freeBytes.store(bytes, ordering: .relaxed)
    }

    /// Opens a tracker's cursor, which is created if necessary.
    package func cursor(ofTracker name: String) throws(JournalError) -> CursorFile {
        do throws(FileError) {
            return try CursorFile(files, tracker: name)
        } catch {
            throw JournalError(.unreadable, error)
        }
    }

    /// Makes a reader that starts at a sequence number and follows the writer.
    package func reader(from sequence: UInt64) -> JournalReader {
        JournalReader(files, from: sequence) { [self] in position }
    }

    /// Publishes what the writer has committed to the readers.
    func committed(_ segment: Segment) {
        state.withLock { state in
            if state.segments.last?.name == segment.name { state.segments.removeLast() }
            state.segments.append(segment)
            state.nextSequence = segment.nextSequence
        }
    }

    /// Removes a segment from the position after its file was removed.
    func removed(_ segment: Segment) {
        state.withLock { state in state.segments.removeAll { $0.name == segment.name } }
    }

    /// The cursors' sequence numbers, by the trackers' names in lower case.
    package func cursors() throws(JournalError) -> [String: UInt64] {
        var cursors: [String: UInt64] = [:]
        do throws(FileError) {
            for name in try files.names() {
                guard let tracker = CursorFile.tracker(ofName: name) else { continue }
                cursors[tracker] = try CursorFile(files, existing: name).sequence
            }
        } catch {
            throw JournalError(.unreadable, error)
        }
        return cursors
    }
}

/// The committed end of a journal, and its segments.
package struct JournalPosition: Sendable {
    /// The segments in order, each up to its committed end.
    package internal(set) var segments: [Segment]
    /// The sequence number of the next event.
    package internal(set) var nextSequence: UInt64

    /// The size of all segments, in bytes.
    package var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }
    /// The number of events in a range of sequence numbers, without the numbers that were skipped between segments.
    package func count(from lowerBound: UInt64, to upperBound: UInt64) -> Int {
        segments.reduce(0) { count, segment in
            let (lower, upper) = (max(lowerBound, segment.name.firstSequence), min(upperBound, segment.nextSequence))
            return lower < upper ? count + Int(clamping: upper - lower) : count
        }
    }

    /// The sequence number of the oldest event.
    package var firstSequence: UInt64 { segments.first?.name.firstSequence ?? nextSequence }
}
