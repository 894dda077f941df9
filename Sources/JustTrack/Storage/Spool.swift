import EventModel
import Foundation
import Journal

/// A journal that is this process's until it is let go.
struct Spool: Sendable {
    /// The name of a file that says that nobody is to have the events.
    private static let discardMark = "discarded"
    /// What the name of a spool ends with that is being removed.
    static let removedSuffix = ".removed"

    let folder: String
    let journal: Journal

    /// Opens it, or begins it.
    ///
    /// - Throws: `locked` where somebody else has it.
    init(folder: String) throws(JournalError) {
        self.folder = folder
        journal = try Journal(
            folder: folder,
            configuration: SpoolFolder.configuration,
            now: Timestamp.now().microseconds
        )
    }

    /// Whether nobody is to have what is in a spool any more.
    static func isDiscarded(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/" + discardMark)
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

    /// First out of the way and then file by file, so that nobody finds half of it.
    @discardableResult
    private static func remove(_ folder: String) -> Bool {
        let aside = folder + removedSuffix
        guard rename(folder, aside) == 0 else { return false }
        return (try? FileManager.default.removeItem(atPath: aside)) != nil
    }
}
