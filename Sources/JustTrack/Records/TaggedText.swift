import Foundation

/// A type of value that JSON lacks, or that would be read back as another type.
///
/// It is written as an object with one key, the type's tag, and a string value: `{"$date":"733000000.25"}`.
struct TaggedText: Sendable {
    /// The prefix of all tags; an app's dictionary whose only key has this prefix is tagged itself.
    static let mark: Character = "$"
    /// The tag of a dictionary that looks like a tagged value.
    static let dictionary = "$dictionary"

    /// The key.
    let tag: String
    /// The text of a value of this type; `nil` for other values.
    let text: @Sendable (Any) -> String?
    /// The value of a text; `nil` if the text is invalid.
    let value: @Sendable (String) -> Any?

    static let all = [
        // The canonical form writes whole numbers without a fraction, and JSON has no infinity.
        lossless("$double", Double.self),
        kind("$date") { (date: Date) in
            String(date.timeIntervalSinceReferenceDate)
        } value: { text in
            Double(text).map(Date.init(timeIntervalSinceReferenceDate:))
        },
        kind("$data") { (data: Data) in
            data.base64EncodedString()
        } value: {
            Data(base64Encoded: $0)
        },
        kind("$url") { (url: URL) in
            url.absoluteString
        } value: {
            URL(string: $0)
        },
        kind("$uuid") { (uuid: UUID) in
            uuid.uuidString
        } value: {
            UUID(uuidString: $0)
        },
        kind("$decimal") { (decimal: Decimal) in
            decimal.description
        } value: {
            Decimal(string: $0)
        },
        kind("$cgfloat") { (number: CGFloat) in
            Double(number).description
        } value: { text in
            Double(text).map { CGFloat($0) }
        },
        lossless("$float", Float.self),
        lossless("$int8", Int8.self), lossless("$int16", Int16.self),
        lossless("$int32", Int32.self), lossless("$int64", Int64.self),
        lossless("$uint", UInt.self), lossless("$uint8", UInt8.self), lossless("$uint16", UInt16.self),
        lossless("$uint32", UInt32.self), lossless("$uint64", UInt64.self),
    ]

    private static let byTag = Dictionary(uniqueKeysWithValues: all.map { ($0.tag, $0) })

    /// The type and text of a value; `nil` if no type matches.
    static func tagged(_ value: Any) -> (tag: String, text: String)? {
        for kind in all {
            if let text = kind.text(value) { return (kind.tag, text) }
        }
        return nil
    }

    /// The value of a tag and a text; `nil` if they are invalid.
    static func value(ofTag tag: String, text: String) -> Any? {
        byTag[tag]?.value(text)
    }

    private static func kind<Value>(
        _ tag: String,
        text: @escaping @Sendable (Value) -> String,
        value: @escaping @Sendable (String) -> Value?
    ) -> TaggedText {
        TaggedText(tag: tag) {
            ($0 as? Value).map(text)
        } value: {
            value($0)
        }
    }

    private static func lossless<Value: LosslessStringConvertible & SendableMetatype>(_ tag: String, _ type: Value.Type)
        -> TaggedText
    {
        TaggedText(tag: tag) {
            ($0 as? Value)?.description
        } value: {
            Value($0)
        }
    }
}
