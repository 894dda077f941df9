package import EventJournal
import EventModel
package import EventQuarantine

/// Reads the records of a quarantine that a filter selects.
package struct QuarantineScan: ~Copyable {
    private let filter: QuarantineFilter
    private var reader: QuarantineReader
    private var lines: ArraySlice<UInt8> = []
    private var part: QuarantineFolder.Part?
    private var partID = ""
    private var sequence: UInt64 = 0
    /// The number of bytes read so far.
    package private(set) var bytesRead = 0

    /// Opens a folder, whose parts are read one after the other.
    ///
    /// - Throws: `JournalError` if the folder does not exist or cannot be read.
    package init(_ folder: QuarantineFolder, _ filter: QuarantineFilter) throws(JournalError) {
        self.filter = filter
        reader = try QuarantineReader(folder, since: filter.since?.microseconds)
    }

    /// A sentence for each damage found so far.
    package var findings: [String] { reader.findings }

    /// The next record; `nil` after the last, and if `isStopped` says so, which is asked before each record.
    package mutating func next(isStopped: () -> Bool = { false }) throws(JournalError) -> QuarantineRecord? {
        while true {
            while !isStopped(), let part, let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
                let id = "\(part)-\(sequence)"
                let record = QuarantineRecord(id: id, partID: partID, sequence: sequence, line: lines[..<end])
                lines = lines[(end + 1)...]
                sequence += 1
                if let record, filter.matches(record) { return record }
            }
            guard !isStopped(), let entries = try reader.next() else { return nil }
            lines = entries.lines[...]
            part = entries.part
            partID = entries.partID
            sequence = entries.firstSequence
            bytesRead += entries.lines.count
        }
    }
}
