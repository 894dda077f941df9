public import EventModel
import Synchronization

/// The durable, append-only log of accepted events in one folder.
///
/// Events are numbered in the order in which they were committed, from 0 up; a number is never given twice, though some
/// may be left out after a crash. The folder holds segments, each the frames of many commits, the trackers' cursors, and
/// what recovery had to cut off. Everything here blocks: it is for a thread that may.
public final class Journal: Sendable {
    /// Which journal it is, however often it is opened.
    public let id: JournalID
    /// How it is written.
    public let configuration: JournalConfiguration
    /// What was found when it was opened.
    package let recovery: RecoveryReport
    /// The wall clock's time when it was opened, in microseconds since 1970.
    package let openedAt: Int64

    let files: any FileSystem
    /// Tells how old its segments are.
    let ages: SegmentAges
    private let lock: FolderLock?
    private let state: Mutex<JournalPosition>

    /// Opens the journal in a folder, which is made where it is not there, and held until the journal is let go.
    ///
    /// `now` is the wall clock's time in microseconds since 1970. A pipeline tells later times by adding what a monotonic clock has
    /// counted since.
    ///
    /// - Throws: `locked` where another process has it, `unreadable` and `unwritable` where the files cannot be used.
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

    /// Opens the journal in a file system of any kind; `now` is in microseconds since 1970.
    package init(
        _ files: any FileSystem,
        lock: FolderLock? = nil,
        configuration: JournalConfiguration,
        now: Int64
    ) throws(JournalError) {
        let newer: Damage?
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
            throw JournalError(.unreadable, "The journal was written by a newer program, which must open it: \(newer).")
        }
        // Where segments were lost, numbers that trackers have got through are not given again.
        let furthest = try cursors().values.max() ?? 0
        state.withLock { $0.nextSequence = max($0.nextSequence, furthest) }
    }

    /// The journal's identity; a journal gets one where it has none, or none that can be read.
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

    /// How far it is written.
    package var position: JournalPosition { state.withLock { $0 } }

    /// How far a tracker has got; its cursor is made where there is none.
    package func cursor(ofTracker name: String) throws(JournalError) -> CursorFile {
        do throws(FileError) {
            return try CursorFile(files, tracker: name)
        } catch {
            throw JournalError(.unreadable, error)
        }
    }

    /// Reads forward from a number, while others write.
    package func reader(from sequence: UInt64) -> JournalReader {
        JournalReader(files, from: sequence) { [self] in position }
    }

    /// Notes what the one writer has committed: readers see it from now on.
    func committed(_ segment: Segment) {
        state.withLock { state in
            if state.segments.last?.name == segment.name { state.segments.removeLast() }
            state.segments.append(segment)
            state.nextSequence = segment.nextSequence
        }
    }

    /// Notes that a segment's file was removed.
    func removed(_ segment: Segment) {
        state.withLock { state in state.segments.removeAll { $0.name == segment.name } }
    }

    /// The trackers that have a cursor, by their names in lower case, and where it stands.
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

/// How far a journal is written.
package struct JournalPosition: Sendable {
    /// The segments, in order, with what of each is committed.
    package internal(set) var segments: [Segment]
    /// The number that the next event gets.
    package internal(set) var nextSequence: UInt64

    /// How many bytes all segments have.
    package var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }
    /// The number of the oldest event that is still there.
    package var firstSequence: UInt64 { segments.first?.name.firstSequence ?? nextSequence }
}
