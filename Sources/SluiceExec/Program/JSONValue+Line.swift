import EventModel
import JSONTape

extension JSONValue {
    /// Parses a line that a program has written; `nil` if it is not JSON.
    init?(line: [UInt8]) {
        var padded = line
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        var parser = JSONParser()
        let value = padded.withUnsafeBytes { bytes in
            (try? parser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<line.count])))
                .map { JSONValue(at: $0.root, of: $0) }
        }
        guard let value else { return nil }
        self = value
    }
}
