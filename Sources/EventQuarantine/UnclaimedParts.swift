package import EventJournal
import EventModel
import TrackerKit

/// The parts of a quarantine that belong to no running process, such as that of a `sluice replay` that has ended: no process may ever
/// take them again, so each process that runs removes what is too old in them.
///
/// It has its own thread, because the journals' calls block.
package actor UnclaimedParts {
    private let thread: BlockingThread
    private let folder: QuarantineFolder

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: If the system cannot create a thread.
    package init(_ folder: QuarantineFolder) throws(JournalError) {
        self.folder = folder
        thread = try .forQuarantine()
    }

    /// Removes the events that are too old; returns how many.
    ///
    /// - Throws: The first error, after all parts were tried.
    func removeExpired(_ retention: QuarantineRetention, now: Int64) throws(JournalError) -> Int {
        var removed = 0
        var failure: JournalError?
        for part in try folder.parts() {
            do throws(JournalError) {
                removed += try removeExpired(retention, from: part, now: now)
            } catch {
                // The process that has locked it does this itself.
                if error.code != .locked { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
        return removed
    }

    private func removeExpired(
        _ retention: QuarantineRetention,
        from part: QuarantineFolder.Part,
        now: Int64
    ) throws(JournalError) -> Int {
        let path = folder.folder(of: part)
        let files: PosixFileSystem
        do throws(FileError) {
            files = try PosixFileSystem(existing: path, isReadOnly: false)
        } catch {
            throw JournalError(.unwritable, "The folder '\(path)' cannot be used: \(error).")
        }
        let journal = try Journal(
            files,
            lock: FolderLock(folder: path),
            configuration: QuarantineFolder.configuration(.none, capacityInBytes: .max),
            // As if it were open for an hour, because the time without a process counts only from then on.
            now: now - 3600 * 1_000_000
        )
        var writer = JournalWriter(journal)
        return try retention.apply(to: journal, &writer, now: now)
    }
}
