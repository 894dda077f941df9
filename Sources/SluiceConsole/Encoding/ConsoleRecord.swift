import EventModel
import EventValidation
import TrackerKit

/// The lines of a delivery, and the offset of the end of each.
struct LineBuffer {
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var record = ConsoleRecord()

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    mutating func append(_ event: TrackedEvent, format: ConsoleConfiguration.Format) {
        let line = event.batch.line(at: event.index)
        switch format.kind {
        case .json: TerminalEscapes.append(line, to: &bytes)
        case .pretty: record.appendPretty(line, name: event.name, time: event.time, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        ends.append(bytes.count)
    }

    /// The number of lines that are complete within the first `count` bytes.
    func countOfLines(endingBy count: Int) -> Int {
        ends.firstIndex { $0 > count } ?? ends.count
    }
}

/// An event as a line for the console.
struct ConsoleRecord {
    private let parser = TapeReader()

    /// Appends `time name user key=value …`; a string with spaces or special characters is quoted.
    mutating func appendPretty(
        _ line: UnsafeRawBufferPointer,
        name: String,
        time: Timestamp,
        to bytes: inout [UInt8]
    ) {
        bytes.append(contentsOf: time.description.utf8)
        bytes.append(contentsOf: "  ".utf8)
        TerminalEscapes.append(Array(name.utf8), to: &bytes)
        parser.members(of: line) { key, value in
            switch key {
            case "id", "name", "time", "receivedAt", "serverTime": break
            case "payload", "context": appendMembers(of: value, prefix: key == "context" ? "context." : "", to: &bytes)
            default: append(key: key, value: value, to: &bytes)
            }
        }
    }

    private func appendMembers(of value: TapeReader.Value, prefix: String, to bytes: inout [UInt8]) {
        value.forEachMember { key, value in append(key: prefix + key, value: value, to: &bytes) }
    }

    private func append(key: String, value: TapeReader.Value, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: bytes.last == UInt8(ascii: " ") ? "".utf8 : "  ".utf8)
        TerminalEscapes.append(Array(key.utf8), to: &bytes)
        bytes.append(UInt8(ascii: "="))
        TerminalEscapes.append(value.plainText ?? value.json, to: &bytes)
    }
}
