import EventJournal
import EventModel
import Foundation

/// A journal that is this process's until it is let go, with a note of the answers to what is in it.
struct Spool: Sendable {
    /// The name of a file that says that nobody is to have the events.
    private static let discardMark = "discarded"
    /// What the name of a spool ends with that is being removed.
    private static let removedSuffix = ".removed"

    let folder: String
    let journal: Journal
    let answers: AnswerNote

    /// Opens it, or begins it.
    ///
    /// - Throws: `locked` where somebody else has it.
    init(folder: String) throws(JournalError) {
        self.folder = folder
        let files = try Self.unwritable { () throws(FileError) in try PosixFileSystem(path: folder) }
        // Held before there is a note of answers, so that nobody takes it for left behind; and the note comes before the
        // journal: what the end of a process leaves without one would be taken for somebody else's.
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

    /// Whether what has this name in a folder is a spool: what has no note of answers is somebody else's, and is left alone.
    static func isSpool(_ name: String, in path: String) -> Bool {
        EventID(name) != nil && FileManager.default.fileExists(atPath: "\(path)/\(name)/\(AnswerNote.fileName)")
    }

    /// Whether what has this name in a folder is left of a spool in whose removal a process ended.
    static func isRemains(_ name: String, in path: String) -> Bool {
        guard name.hasSuffix(removedSuffix), EventID(String(name.dropLast(removedSuffix.count))) != nil else {
            return false
        }
        let files = try? FileManager.default.contentsOfDirectory(atPath: path + "/" + name)
        return files.map { $0.isEmpty || $0.contains(AnswerNote.fileName) } ?? false
    }

    /// Whether nobody is to have what is in a spool any more.
    static func isDiscarded(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/" + discardMark)
    }

    /// The number of the first event that its tracker still needs.
    func nextSequence() throws(JournalError) -> UInt64 {
        max(try journal.cursors().values.max() ?? 0, answers.nextSequence)
    }

    /// Notes that nobody is to have what is left in it, should the process end before it is removed.
    func discard() {
        _ = FileManager.default.createFile(atPath: folder + "/" + Self.discardMark, contents: nil)
    }

    /// Removes its files; what is still open goes with the last who has it.
    func remove() {
        Self.remove(folder)
    }

    /// Removes a spool that nobody uses; returns whether it is gone.
    static func removeUnused(_ folder: String) -> Bool {
        guard let lock = try? FolderLock(folder: folder) else { return false }
        return withExtendedLifetime(lock) { remove(folder) }
    }

    /// Removes a spool that nobody uses where nothing in it is needed any more.
    static func removeSettled(_ folder: String) {
        guard let lock = try? FolderLock(folder: folder), isSettled(folder) else { return }
        withExtendedLifetime(lock) { _ = remove(folder) }
    }

    /// As far as it can be seen without opening it, which would wait for the disk.
    private static func isSettled(_ folder: String) -> Bool {
        if isDiscarded(folder) { return true }
        guard let files = try? ExistingJournal(reading: folder).files, let found = try? Inspection(files),
            let answers = try? AnswerNote(in: folder)
        else { return false }
        return max(found.cursors.compactMap(\.sequence).max() ?? 0, answers.nextSequence) >= found.nextSequence
    }

    /// First out of the way and then file by file, so that nobody finds half of it.
    @discardableResult
    private static func remove(_ folder: String) -> Bool {
        let aside = folder + removedSuffix
        guard rename(folder, aside) == 0 else { return false }
        return removeRemains(aside)
    }

    /// Removes what is left of a spool; the note of answers last, by which it is known for one.
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
