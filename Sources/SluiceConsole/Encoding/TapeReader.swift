@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape

/// Parses canonical lines, one at a time.
final class TapeReader {
    /// A value of the line that is being read; valid only during the callback.
    struct Value {
        fileprivate let tape: JSONTape
        fileprivate let index: Int

        /// The text of a string that is unambiguous without quotes; `nil` for any other value.
        var plainText: [UInt8]? {
            guard tape.kind(at: index) == .string else { return nil }
            let text = tape.string(at: index)
            let isPlain = text.allSatisfy { byte in
                byte > 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "=")
            }
            return isPlain && !text.isEmpty ? Array(text) : nil
        }

        /// The value as JSON without spaces.
        var json: [UInt8] {
            var builder = ByteBuilder(capacity: 256)
            tape.appendValue(at: index, to: &builder)
            return Array(builder.bytes)
        }

        /// Calls `body` for each member of an object; does nothing for any other value.
        func forEachMember(_ body: (String, Value) -> Void) {
            guard tape.kind(at: index) == .object else { return }
            let contents = tape.contents(of: index)
            var member = contents.lowerBound
            while member < contents.upperBound {
                body(String(decoding: tape.string(at: member), as: UTF8.self), Value(tape: tape, index: member + 1))
                member = tape.end(of: member + 1)
            }
        }
    }

    private var parser = JSONParser()
    private var padded: [UInt8] = []

    /// Calls `body` for each member of the object in `line`.
    func members(of line: UnsafeRawBufferPointer, _ body: (String, Value) -> Void) {
        padded.removeAll(keepingCapacity: true)
        padded.append(contentsOf: line)
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        padded.withUnsafeBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
            // A batch contains only lines that were encoded as JSON.
            guard let tape = try? parser.parse(text) else { return }
            Value(tape: tape, index: tape.root).forEachMember(body)
        }
    }
}
