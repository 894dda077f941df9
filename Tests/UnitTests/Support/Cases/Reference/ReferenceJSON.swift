/// JSON as a tree that preserves the source: numbers as text, and objects with duplicate keys.
///
/// Strings are code points, because the rules for them count code points.
package indirect enum ReferenceJSON: Equatable {
    case null
    case boolean(Bool)
    case number(String)
    case string([UInt32])
    case array([ReferenceJSON])
    case object([ReferenceMember])

    package static func text(_ text: String) -> ReferenceJSON { .string(text.unicodeScalars.map(\.value)) }

    package var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

package struct ReferenceMember: Equatable {
    package var key: [UInt32]
    package var value: ReferenceJSON

    package init(key: [UInt32], value: ReferenceJSON) {
        self.key = key
        self.value = value
    }
}

extension String {
    package init(codePoints: [UInt32]) {
        self.init(String.UnicodeScalarView(codePoints.compactMap(Unicode.Scalar.init)))
    }
}
