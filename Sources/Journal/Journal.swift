import Synchronization

/// The durable, append-only log of accepted events in one folder.
///
/// Events are numbered in the order in which they were committed, from 0 up; a number is never given twice, though some
/// may be left out after a crash. The folder holds segments, each the frames of many commits, the trackers' cursors, and
/// what recovery had to cut off. Everything here blocks: it is for a thread that may.
public final class Journal: Sendable {
    /// How it is written.
    public let configuration: JournalConfiguration
    /// What was found when it was opened.
    package let recovery: RecoveryReport

    let files: any FileSystem
    private let lock: FolderLock?
    private let state: Mutex<JournalPosition>

    /// Opens the journal in a folder, which is made where it is not there, and held until the journal is let go.
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
        do throws(FileError) {
            let recovery = try Recovery(files, now: now)
            self.recovery = recovery.report
            newer = recovery.newerFormat
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

    /// Removes the oldest segments that nobody needs, past their time or beyond what may be kept, one after the other.
    ///
    /// Only events before `sequence` are removed, and the last segment stays. With `makesRoom` segments are removed before
    /// their time, too. Returns those that were removed; `now` is in microseconds since 1970.
    package func retire(
        before sequence: UInt64,
        now: Int64,
        makesRoom: Bool = false
    ) throws(JournalError) -> [Segment] {
        var retired: [Segment] = []
        while let oldest = state.withLock({ $0.segments.count > 1 ? $0.segments.first : nil }),
            oldest.nextSequence <= sequence, makesRoom || isOver(oldest, now: now)
        {
            do throws(FileError) {
                try files.remove(oldest.name.text)
            } catch {
                throw JournalError(.unwritable, error)
            }
            state.withLock { _ = $0.segments.removeFirst() }
            retired.append(oldest)
        }
        return retired
    }

    private func isOver(_ segment: Segment, now: Int64) -> Bool {
        // One without a frame is as old as any.
        guard segment.committedAt > .min else { return true }
        let age = Duration.microseconds(now.subtractingReportingOverflow(segment.committedAt).partialValue)
        return age >= configuration.retentionAge || position.byteCount > configuration.retentionBytes
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
