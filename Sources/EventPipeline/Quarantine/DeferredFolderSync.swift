import Journal

/// The files of a journal that event loops write: a new segment is synced into its folder a moment later, by another
/// thread, because event loops must not wait for a disk.
///
/// A loss of power in that moment takes the segment, of which nothing was synced anyway. Its numbers may then be given
/// again; to a replay that had sent some of them in that very moment, the new ones count as sent.
struct DeferredFolderSync: FileSystem {
    let files: any FileSystem
    let part: DurableQuarantinePart

    func syncFolder() {
        // Nobody waits for it: who writes here may not, and needs no answer.
        Task { await part.syncFolder(of: files) }
    }

    func names() throws(FileError) -> [String] { try files.names() }

    func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile {
        try files.open(name, creates: creates)
    }

    func remove(_ name: String) throws(FileError) { try files.remove(name) }

    func rename(_ name: String, to other: String) throws(FileError) { try files.rename(name, to: other) }

    func freeBytes() throws(FileError) -> Int { try files.freeBytes() }
}
