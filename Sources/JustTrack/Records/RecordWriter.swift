import EventModel
import Foundation

/// Writes an app's event as the JSON that is validated and stored.
struct RecordWriter {
    /// The maximum depth of a payload, a few levels less than the validation's limit.
    static let maximumDepth = 60

    private var bytes: [UInt8] = []
    private var path: [String] = []

    /// The JSON of one event.
    ///
    /// - Throws: If the payload has a value that cannot be read back.
    static func json(name: String, payload: Payload) throws(RecordError) -> [UInt8] {
        var writer = RecordWriter()
        writer.bytes.reserveCapacity(256)
        writer.append(#"{"name":"\#(RecordPlan.definitionName)","payload":{"\#(RecordPlan.eventKey)":"#)
        writer.appendString(name)
        writer.append(#","\#(RecordPlan.valuesKey)":"#)
        try writer.appendDictionary(payload)
        writer.append("}}")
        return writer.bytes
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func appendString(_ text: String) {
        JSONString.append(text, to: &bytes)
    }

    private mutating func appendMembers(_ members: [String: Any]) throws(RecordError) {
        append("{")
        var isFirst = true
        for (key, value) in members {
            if !isFirst { append(",") }
            isFirst = false
            path.append(key)
            appendString(key)
            append(":")
            try append(value: value)
            path.removeLast()
        }
        append("}")
    }

    private mutating func append(value: Any) throws(RecordError) {
        guard path.count <= Self.maximumDepth else { throw .tooDeep(at: path) }
        switch Self.plain(value) {
        case let text as String: appendString(text)
        case let text as Substring: appendString(String(text))
        case let truth as Bool: append(truth ? "true" : "false")
        case let number as Int: append(number.description)
        case let number as Double where number.isFinite && number != number.rounded(): append(number.description)
        case is NSNull: append("null")
        case let members as [String: Any]: try appendDictionary(members)
        case let elements as [Any]: try appendElements(elements)
        case let other: try appendTagged(other)
        }
    }

    private mutating func appendDictionary(_ members: [String: Any]) throws(RecordError) {
        let isTagged = members.count == 1 && members.keys.first?.first == TaggedText.mark
        if isTagged { append(#"{"\#(TaggedText.dictionary)":"#) }
        try appendMembers(members)
        if isTagged { append("}") }
    }

    private mutating func appendElements(_ elements: [Any]) throws(RecordError) {
        append("[")
        for (position, element) in elements.enumerated() {
            if position > 0 { append(",") }
            path.append("\(position)")
            try append(value: element)
            path.removeLast()
        }
        append("]")
    }

    private mutating func appendTagged(_ value: Any) throws(RecordError) {
        if let (tag, text) = TaggedText.tagged(value) {
            append(#"{"\#(tag)":"#)
            appendString(text)
            append("}")
        } else if Self.isNil(value) {
            append("null")
        } else {
            throw .unstorable(type(of: value), at: path)
        }
    }

    /// Whether the value is an optional without a value, as `dictionary["key"] as Any` may be.
    private static func isNil(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }

    /// The Swift number in an `NSNumber`, which would otherwise cast to any numeric type; other values unchanged.
    private static func plain(_ value: Any) -> Any {
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return value }
        if let decimal = number as? NSDecimalNumber { return decimal.decimalValue }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"):
            return number.doubleValue
        case UInt8(ascii: "c"), UInt8(ascii: "B"):
            // Foundation stores Booleans as 8-bit numbers, and rarely other numbers.
            return (0...1).contains(number.intValue) ? number.boolValue : number.intValue
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int.max):
            return number.uint64Value
        default:
            return number.intValue
        }
    }
}
