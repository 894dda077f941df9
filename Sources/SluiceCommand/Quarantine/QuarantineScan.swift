import EventJournal
import EventModel
import EventQuarantine

/// Selects records of a quarantine.
struct QuarantineFilter {
    /// The codes to match, of which a record's verdict must have at least one; empty for all.
    var codes: Set<String> = []
    /// The names of events; empty for all.
    var events: Set<String> = []
    /// The times between which an event was quarantined; `until` itself is excluded.
    var since: Timestamp?
    var until: Timestamp?

    func matches(_ record: QuarantineRecord) -> Bool {
        if let since, record.at < since { return false }
        if let until, record.at >= until { return false }
        if !codes.isEmpty, codes.isDisjoint(with: record.codes) { return false }
        return events.isEmpty || record.eventName.map(events.contains) ?? false
    }
}

/// Reads the records of a quarantine that a filter selects.
struct QuarantineScan: ~Copyable {
    private let filter: QuarantineFilter
    private var reader: QuarantineReader
    private var lines: ArraySlice<UInt8> = []
    private var part: QuarantineFolder.Part?
    private var partID = ""
    private var sequence: UInt64 = 0
    /// The number of bytes read so far.
    private(set) var bytesRead = 0

    /// - Throws: `JournalError` if the folder does not exist or cannot be read.
    init(_ folder: QuarantineFolder, _ filter: QuarantineFilter) throws(JournalError) {
        self.filter = filter
        reader = try QuarantineReader(folder, since: filter.since?.microseconds)
    }

    /// A sentence for each damage found so far.
    var findings: [String] { reader.findings }

    /// The next record; `nil` after the last, and if `isStopped` says so, which is asked before each record.
    mutating func next(isStopped: () -> Bool = { false }) throws(JournalError) -> QuarantineRecord? {
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
