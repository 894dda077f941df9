import EventModel
import TestCases

// What a value is in JSON, said once more, by Swift's own descriptions.
extension ReferenceJSON {
    static func decimal(_ value: ExactDecimal) -> ReferenceJSON { .text(value.description) }

    static func integer(_ value: Int) -> ReferenceJSON { .number(String(value)) }

    static func value(_ value: JSONValue) -> ReferenceJSON {
        switch value {
        case .null: .null
        case .boolean(let truth): .boolean(truth)
        case .integer(let number): .number(String(number))
        case .number(let number): .double(number)
        case .string(let text): .text(text)
        case .array(let values): .array(values.map { .value($0) })
        case .object(let members): .members(members)
        }
    }

    static func members(_ members: [String: JSONValue]) -> ReferenceJSON {
        .object(
            members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
                .named($0.key, .value($0.value))
            }
        )
    }

    /// A number by its value, which can be written in several ways.
    static func double(_ value: Double) -> ReferenceJSON { .number("double " + String(value + 0)) }

    static func object(_ members: KeyValuePairs<String, ReferenceJSON?>) -> ReferenceJSON {
        .object(members.compactMap { key, value in value.map { .named(key, $0) } })
    }

    /// The same tree, with numbers of type `Double` compared by value.
    func matches(_ other: ReferenceJSON) -> Bool {
        switch (self, other) {
        case (.number(let expected), .number(let text)) where expected.hasPrefix("double "):
            Double(expected.dropFirst(7)) == Double(text)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.matches($1) }
        case (.object(let left), .object(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.key == $1.key && $0.value.matches($1.value) }
        default: self == other
        }
    }
}

extension ReferenceMember {
    static func named(_ key: String, _ value: ReferenceJSON) -> ReferenceMember {
        ReferenceMember(key: key.unicodeScalars.map(\.value), value: value)
    }
}
