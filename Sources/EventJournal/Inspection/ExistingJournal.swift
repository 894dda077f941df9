/// An existing journal, for tools that inspect or repair it without being its writer.
///
/// Opening it creates no folder and does not recover the journal.
package struct ExistingJournal: Sendable {
    /// Its files.
    package let files: any FileSystem
    private let lock: FolderLock?

    /// Opens a journal for reading, while another process may be writing it.
    ///
    /// - Throws: `unreadable` if there is no such folder, or no journal in it.
    package init(reading folder: String) throws(JournalError) {
        files = try Self.files(folder, isReadOnly: true)
        lock = nil
    }

    /// Opens a journal for changes, and locks it until this value is released.
    ///
    /// - Throws: `unreadable` if there is no such folder, or no journal in it; `locked` if another process has it.
    package init(changing folder: String) throws(JournalError) {
        files = try Self.files(folder, isReadOnly: false)
        lock = try FolderLock(folder: folder)
    }

    /// Whether a file has a name that only a journal uses, unlike `lock`.
    private static func isOfJournal(_ name: String) -> Bool {
        SegmentName(name) != nil || CursorFile.tracker(ofName: name) != nil
    }

    private static func files(_ folder: String, isReadOnly: Bool) throws(JournalError) -> any FileSystem {
        let files: PosixFileSystem
        let names: [String]
        do throws(FileError) {
            files = try PosixFileSystem(existing: folder, isReadOnly: isReadOnly)
            names = try files.names()
        } catch {
            switch error.errorNumber {
            case PosixErrors.noEntry: throw JournalError(.unreadable, "There is no folder '\(folder)'.")
            case PosixErrors.notFolder: throw JournalError(.unreadable, "'\(folder)' is no folder.")
            default: throw JournalError(.unreadable, error)
            }
        }
        guard names.contains(where: { isOfJournal($0) || isReadOnly && $0 == FolderLock.name }) else {
            throw JournalError(.unreadable, "'\(folder)' is no journal: it has no segments and no cursors.")
        }
        return files
    }
}
