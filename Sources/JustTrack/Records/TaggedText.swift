import Foundation

/// A kind of value that JSON has no word for, or that would come back as another kind.
///
/// It is written as an object with one key, the kind's tag, whose value is a text: `{"$date":"733000000.25"}`.
struct TaggedText: Sendable {
    /// How all tags begin; a dictionary of the app's with one key that begins so is tagged itself.
    static let mark: Character = "$"
    /// The tag of a dictionary that would be taken for something tagged.
    static let dictionary = "$dictionary"

    /// The key.
    let tag: String
    /// The text of a value of this kind; `nil` for any other.
    let text: @Sendable (Any) -> String?
    /// The value of a text; `nil` where the text is none of this kind.
    let value: @Sendable (String) -> Any?

    static let all = [
        // Whole numbers lose their point in the canonical form, and JSON has no infinity.
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

    /// The kind and text of a value; `nil` where no kind fits.
    static func tagged(_ value: Any) -> (tag: String, text: String)? {
        for kind in all {
            if let text = kind.text(value) { return (kind.tag, text) }
        }
        return nil
    }

    /// The value of a tag and a text; `nil` where they are none.
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
