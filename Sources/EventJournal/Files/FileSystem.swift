/// The folder in which a journal lives, and the few things it asks of it.
///
/// Behind a protocol so that a test can lose what was not synced, reorder it, and let any call fail.
package protocol FileSystem: Sendable {
    /// The names of all files in the folder, in no order.
    func names() throws(FileError) -> [String]

    /// Opens a file for reading and writing; makes it, with mode 0600, where `creates` says so and it is not there.
    func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile

    /// Makes a file for reading and writing, with mode 0600.
    ///
    /// - Throws: Where there is a file of this name, whatever it holds.
    func create(_ name: String) throws(FileError) -> any JournalFile

    /// Removes a file.
    func remove(_ name: String) throws(FileError)

    /// Gives a file another name, and takes the place of the file that had it; after a crash one or the other has it.
    func rename(_ name: String, to other: String) throws(FileError)

    /// Makes what was made, renamed and removed in the folder survive a crash.
    func syncFolder() throws(FileError)

    /// How many bytes the file system has left for this process.
    func freeBytes() throws(FileError) -> Int
}

/// A file of a journal; reads and writes name their places.
package protocol JournalFile: Sendable {
    /// How many bytes it has.
    func size() throws(FileError) -> Int

    /// Reads what stands at `offset` until the buffer is full or the file ends; returns how many bytes that were.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int

    /// Writes all the bytes of all parts, one behind the other, or throws; then any part of them may have been written.
    func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) throws(FileError)

    /// Returns once what was written, and the size, survive a crash.
    func sync() throws(FileError)

    /// Cuts the file.
    func truncate(to size: Int) throws(FileError)

    /// Tells the system that what stands before `offset`, and is synced, will hardly be read again, so that it need not
    /// keep it in memory.
    func releaseMemory(before offset: Int)
}

extension JournalFile {
    /// Writes all the bytes, or throws; then any part of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        try write([bytes], at: offset)
    }
}

/// What the system said when it did not do what a journal asked.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was asked, as `write`.
    package let operation: String
    /// The file, or `.` for the folder.
    package let name: String
    /// The system's number.
    package let errorNumber: Int32

    /// Notes what was asked and what came back.
    package init(_ operation: String, _ name: String, _ errorNumber: Int32) {
        self.operation = operation
        self.name = name
        self.errorNumber = errorNumber
    }

    /// Whether there is no such file.
    package var isMissing: Bool { errorNumber == PosixErrors.noEntry }

    /// Whether there is such a file already.
    package var isExisting: Bool { errorNumber == PosixErrors.exists }

    /// Whether the disk has lost what was asked for, and not the process the means to ask.
    package var isMediaError: Bool { PosixErrors.ofMedium.contains(errorNumber) }

    /// As `write 00000000000000000000.segment: No space left on device`.
    package var description: String { "\(operation) \(name): \(PosixErrors.message(errorNumber))" }
}
