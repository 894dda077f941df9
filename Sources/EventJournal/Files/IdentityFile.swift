import EventModel

extension JournalID {
    /// The identity of the journal with these files; `nil` if it has none yet.
    package init?(of files: any FileSystem) throws(FileError) {
        guard let id = try IdentityFile.read(files) else { return nil }
        self = id
    }
}

/// The file with a journal's identity: its UUID as text, and a newline.
///
/// It is written under another name and renamed, before the journal's first frame, so after a crash it is complete or absent.
enum IdentityFile {
    static let name = "identity"
    private static let newName = "identity.new"

    /// Reads the identity; `nil` if there is no file or no identity in it.
    static func read(_ files: any FileSystem) throws(FileError) -> JournalID? {
        guard try files.names().contains(name) else { return nil }
        let file = try files.open(name, creates: false)
        let text = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes throws(FileError) in
            let count = try file.read(into: bytes, at: 0)
            return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<count]), as: UTF8.self)
        }
        return text.last == "\n" ? JournalID(String(text.dropLast())) : nil
    }

    /// Makes an identity, and returns when its file is synced.
    static func make(_ files: any FileSystem) throws(FileError) -> JournalID {
        let id = JournalID()
        let file = try files.open(newName, creates: true)
        let text = "\(id)\n".utf8
        try withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 1) { bytes throws(FileError) in
            bytes.copyBytes(from: text)
            try file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
        try file.sync()
        try files.rename(newName, to: name)
        try files.syncFolder()
        return id
    }
}
