import EventModel
import Foundation
import Journal

/// A journal that is this process's until it is let go.
struct Spool: Sendable {
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
        let aside = folder + ".removed"
        guard rename(folder, aside) == 0 else { return false }
        return (try? FileManager.default.removeItem(atPath: aside)) != nil
    }
}
