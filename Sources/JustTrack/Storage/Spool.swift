import EventJournal
import EventModel
import Foundation

/// A journal that is locked by this process, with a note of the tracker's answers.
struct Spool: Sendable {
    /// The name of the file that marks a spool whose events must not be restored.
    private static let discardMark = "discarded"
    /// The suffix of the name of a spool that is being removed.
    private static let removedSuffix = ".removed"

    let folder: String
    let journal: Journal
    let answers: AnswerNote

    /// Opens or creates a spool.
    ///
    /// - Throws: `locked` if it is in use.
    init(folder: String) throws(JournalError) {
        self.folder = folder
        let files = try Self.unwritable { () throws(FileError) in try PosixFileSystem(path: folder) }
        // Locked before there is a note of answers, so that no other process restores the spool. The note is created before the
        // journal, because a folder without a note is not recognised as a spool if this process ends in between.
        let lock = try FolderLock(folder: folder)
        answers = try Self.unwritable { () throws(FileError) in try AnswerNote(in: folder) }
        journal = try Journal(
            files,
            lock: lock,
            configuration: SpoolFolder.configuration,
            now: Timestamp.now().microseconds
        )
    }

    private static func unwritable<Made>(_ make: () throws(FileError) -> Made) throws(JournalError) -> Made {
        do throws(FileError) {
            return try make()
        } catch {
            throw JournalError(.unwritable, "The spool cannot be made: \(error).")
        }
    }

    /// Whether a folder is a spool; a folder without a note of answers is not ours, and is left alone.
    static func isSpool(_ name: String, in path: String) -> Bool {
        EventID(name) != nil && FileManager.default.fileExists(atPath: "\(path)/\(name)/\(AnswerNote.fileName)")
    }

    /// Whether a folder is the rest of a spool whose removal was interrupted.
    static func isRemains(_ name: String, in path: String) -> Bool {
        guard name.hasSuffix(removedSuffix), EventID(String(name.dropLast(removedSuffix.count))) != nil else {
            return false
        }
        let files = try? FileManager.default.contentsOfDirectory(atPath: path + "/" + name)
        return files.map { $0.isEmpty || $0.contains(AnswerNote.fileName) } ?? false
    }

    /// Whether the events of a spool must not be restored.
    static func isDiscarded(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/" + discardMark)
    }

    /// The number of the first event that its tracker still needs.
    func nextSequence() throws(JournalError) -> UInt64 {
        max(try journal.cursors().values.max() ?? 0, answers.nextSequence)
    }

    /// Marks the spool so that its events are not restored if the process ends before it is removed.
    func discard() {
        _ = try? PosixFileSystem(existing: folder, isReadOnly: false).open(Self.discardMark, creates: true)
    }

    /// Removes its files; those that are still open vanish when they are closed.
    func remove() {
        Self.remove(folder)
    }

    /// Removes a spool that is not in use; returns whether it is removed.
    static func removeUnused(_ folder: String) -> Bool {
        guard let lock = try? FolderLock(folder: folder) else { return false }
        return withExtendedLifetime(lock) { remove(folder) }
    }

    /// Removes a spool that is not in use if no event in it is needed.
    static func removeSettled(_ folder: String) {
        guard let lock = try? FolderLock(folder: folder), isSettled(folder) else { return }
        withExtendedLifetime(lock) { _ = remove(folder) }
    }

    /// Whether no event is needed, as far as that is visible without opening the spool, which would wait for the disk.
    private static func isSettled(_ folder: String) -> Bool {
        if isDiscarded(folder) { return true }
        guard let files = try? ExistingJournal(reading: folder).files, let found = try? Inspection(files),
            let answers = try? AnswerNote(in: folder)
        else { return false }
        return max(found.cursors.compactMap(\.sequence).max() ?? 0, answers.nextSequence) >= found.nextSequence
    }

    /// Renames it and then removes file by file, so that no process finds a part of it.
    @discardableResult
    private static func remove(_ folder: String) -> Bool {
        let aside = folder + removedSuffix
        guard rename(folder, aside) == 0 else { return false }
        return removeRemains(aside)
    }

    /// Removes the rest of a spool; the note of answers last, because it identifies a spool.
    @discardableResult
    static func removeRemains(_ folder: String) -> Bool {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for file in files where file != AnswerNote.fileName {
            try? FileManager.default.removeItem(atPath: folder + "/" + file)
        }
        unlink(folder + "/" + AnswerNote.fileName)
        return rmdir(folder) == 0
    }
}
