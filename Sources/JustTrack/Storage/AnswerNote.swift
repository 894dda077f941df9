import EventJournal

/// How far a tracker has answered for what is in its spool, noted with each answer.
///
/// The pipeline notes it, too, but for a delivery as a whole, which may be 10,000 events. With this the end of the process
/// lets at most one of them come again, outside of a restoring. Like all of a spool it survives the process, and a loss of power not surely.
struct AnswerNote: Sendable {
    /// The file; none but spools have one of this name.
    static let fileName = "justtrack.answered"

    /// The number, and its complement as a check.
    private static let byteCount = 16

    private let file: any JournalFile

    /// Opens the note in a spool's folder, or makes it.
    init(in folder: String) throws(FileError) {
        file = try PosixFileSystem(existing: folder, isReadOnly: false).open(Self.fileName, creates: true)
    }

    /// The number of the first event without an answer; 0 where it cannot be read.
    var nextSequence: UInt64 {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
            guard (try? file.read(into: bytes, at: 0)) == Self.byteCount else { return 0 }
            let sequence = bytes.load(as: UInt64.self)
            // A loss of power may leave anything; without a note some events come again.
            return bytes.load(fromByteOffset: 8, as: UInt64.self) == ~sequence ? UInt64(littleEndian: sequence) : 0
        }
    }

    /// Notes that all events before a number are answered.
    func move(to sequence: UInt64) throws(FileError) {
        try withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes throws(FileError) in
            bytes.storeBytes(of: sequence.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: ~sequence.littleEndian, toByteOffset: 8, as: UInt64.self)
            try file.write([UnsafeRawBufferPointer(bytes)], at: 0)
        }
    }
}
