import EventJournal

/// The number of the first event in a spool that its tracker has not answered, stored after each answer.
///
/// The pipeline stores a cursor for a whole delivery, which may be 10,000 events. With this note the end of the process
/// repeats at most one event, except while events are restored. It is not synced, so a loss of power may lose it.
struct AnswerNote: Sendable {
    /// The name of the file; only spools have a file of this name.
    static let fileName = "justtrack.answered"

    /// The number, and its complement as a checksum.
    private static let byteCount = 16

    private let file: any JournalFile

    /// Opens or creates the note in a spool's folder.
    init(in folder: String) throws(FileError) {
        file = try PosixFileSystem(existing: folder, isReadOnly: false).open(Self.fileName, creates: true)
    }

    /// The number of the first event without an answer; 0 if it cannot be read.
    var nextSequence: UInt64 {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
            guard (try? file.read(into: bytes, at: 0)) == Self.byteCount else { return 0 }
            let sequence = bytes.load(as: UInt64.self)
            // A loss of power may damage the file; without a note some events are delivered again.
            return bytes.load(fromByteOffset: 8, as: UInt64.self) == ~sequence ? UInt64(littleEndian: sequence) : 0
        }
    }

    /// Stores that all events before a number are answered.
    func move(to sequence: UInt64) throws(FileError) {
        try withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes throws(FileError) in
            bytes.storeBytes(of: sequence.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: ~sequence.littleEndian, toByteOffset: 8, as: UInt64.self)
            try file.write([UnsafeRawBufferPointer(bytes)], at: 0)
        }
    }
}
