import EventJournal
import EventModel
import EventQuarantine

/// Goes through the records of a quarantine that are meant.
struct QuarantineScan: ~Copyable {
    private let filter: QuarantineFilter
    private var reader: QuarantineReader
    private var lines: ArraySlice<UInt8> = []
    private var part: QuarantineFolder.Part?
    private var partID = ""
    private var sequence: UInt64 = 0
    /// How many bytes were read.
    private(set) var bytesRead = 0

    /// - Throws: `JournalError` where there is no such folder.
    init(_ folder: QuarantineFolder, _ filter: QuarantineFilter) throws(JournalError) {
        self.filter = filter
        reader = try QuarantineReader(folder, since: filter.since?.microseconds)
    }

    /// What is damaged, a sentence each, so far.
    var findings: [String] { reader.findings }

    /// The next record; `nil` after the last.
    mutating func next() throws(JournalError) -> QuarantineRecord? {
        while true {
            while let part, let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
                let record = QuarantineRecord(part: part, partID: partID, sequence: sequence, line: lines[..<end])
                lines = lines[(end + 1)...]
                sequence += 1
                if let record, filter.matches(record) { return record }
            }
            guard let entries = try reader.next() else { return nil }
            lines = entries.lines[...]
            part = entries.part
            partID = entries.partID
            sequence = entries.firstSequence
            bytesRead += entries.lines.count
        }
    }
}
