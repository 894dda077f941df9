/// A journal's folder, with the operations that a journal needs.
///
/// It is a protocol so that a test can lose or reorder unsynced writes and make any call fail.
package protocol FileSystem: Sendable {
    /// The names of all files in the folder, in any order.
    func names() throws(FileError) -> [String]

    /// Opens a file for reading and writing; with `creates`, a missing file is created with mode 0600.
    func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile

    /// Creates a file for reading and writing, with mode 0600.
    ///
    /// - Throws: If a file of this name exists.
    func create(_ name: String) throws(FileError) -> any JournalFile

    /// Removes a file.
    func remove(_ name: String) throws(FileError)

    /// Renames a file atomically, and replaces a file that has the new name.
    func rename(_ name: String, to other: String) throws(FileError)

    /// When a file was last written, in microseconds since 1970.
    func modificationTime(of name: String) throws(FileError) -> Int64

    /// Syncs the folder: files that were created, renamed and removed.
    func syncFolder() throws(FileError)

    /// The free space of the file system, in bytes.
    func freeBytes() throws(FileError) -> Int
}

/// A file of a journal, with reads and writes at offsets.
package protocol JournalFile: Sendable {
    /// Its size, in bytes.
    func size() throws(FileError) -> Int

    /// Reads at `offset` until the buffer is full or the file ends; returns the number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int

    /// Writes all parts, one after the other; if it throws, any of the bytes may have been written.
    func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) throws(FileError)

    /// Syncs the file's bytes and its size.
    func sync() throws(FileError)

    /// Truncates the file.
    func truncate(to size: Int) throws(FileError)

    /// Tells the system that the synced bytes before `offset` need not stay in the page cache.
    func releaseMemory(before offset: Int)
}

extension JournalFile {
    /// Writes all bytes; if it throws, any of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        try write([bytes], at: offset)
    }

    private static var pieceBytes: Int { 1 << 20 }

    /// The offset after the last byte before `end` that is not zero.
    func endWithoutZeros(before end: Int) throws(FileError) -> Int {
        var end = end
        return try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer throws(FileError) in
            while end > 0 {
                let start = max(0, end - buffer.count)
                let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<(end - start)]), at: start)
                if let last = buffer[..<count].lastIndex(where: { $0 != 0 }) { return start + last + 1 }
                end = start
            }
            return 0
        }
    }

    /// Copies a range of its bytes to a place in another file.
    ///
    /// - Throws: If a file cannot be read or written, or if this file ends before the range does.
    func copy(_ range: Range<Int>, to other: any JournalFile, at offset: Int) throws(FileError) {
        let size = min(Self.pieceBytes, range.count)
        guard size > 0 else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        var position = 0
        while position < range.count {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(size, range.count - position)])
            let read = try self.read(into: piece, at: range.lowerBound + position)
            guard read > 0 else { throw FileError("copy", ".", PosixErrors.input) }
            try other.write(UnsafeRawBufferPointer(rebasing: piece[..<read]), at: offset + position)
            position += read
        }
    }
}

/// The failure of a file operation.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation, such as `write`.
    package let operation: String
    /// The file, or `.` for the folder.
    package let name: String
    /// The system's error number, `errno`.
    package let errorNumber: Int32

    /// Makes an error.
    package init(_ operation: String, _ name: String, _ errorNumber: Int32) {
        self.operation = operation
        self.name = name
        self.errorNumber = errorNumber
    }

    /// Whether the file does not exist.
    package var isMissing: Bool { errorNumber == PosixErrors.noEntry }

    /// Whether the file exists already.
    package var isExisting: Bool { errorNumber == PosixErrors.exists }

    /// Whether the error is of the disk and not, for example, of the process's limits.
    package var isMediaError: Bool { PosixErrors.media.contains(errorNumber) }

    /// For example `write 00000000000000000000.segment: No space left on device`.
    package var description: String { "\(operation) \(name): \(PosixErrors.message(errorNumber))" }
}
