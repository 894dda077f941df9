import EventModel
import JSONTape

extension PayloadEncoder {
    /// Appends a value of any kind, looking only for what is no JSON that every tracker could store.
    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: output.append("null")
        case .boolean(let truth): if truth { output.append("true") } else { output.append("false") }
        case .integer(let number): output.append(number)
        case .number(let number):
            guard number.isFinite else { return reportNotFinite() }
            output.append(number)
        case .string(let text): append(text)
        case .array(let values): append(values)
        case .object(let members): append(members)
        }
    }

    /// Appends a text as a JSON string.
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { appendText(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a key and its value.
    mutating func appendMember(_ key: String, _ value: JSONValue) {
        append(key)
        output.append(UInt8(ascii: ":"))
        append(value)
    }

    /// Orders keys by their UTF-8, so that equal objects are encoded alike.
    static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private mutating func append(_ values: [JSONValue]) {
        guard descend() else { return }
        output.append(UInt8(ascii: "["))
        for (position, value) in values.enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            append(value)
        }
        output.append(UInt8(ascii: "]"))
        depth -= 1
    }

    private mutating func append(_ members: [String: JSONValue]) {
        guard descend() else { return }
        output.append(UInt8(ascii: "{"))
        for (position, member) in members.sorted(by: { Self.precedes($0.key, $1.key) }).enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            appendMember(member.key, member.value)
        }
        output.append(UInt8(ascii: "}"))
        depth -= 1
    }
}
