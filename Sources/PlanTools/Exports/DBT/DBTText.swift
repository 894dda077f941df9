import EventModel

/// Text in the files of a project of dbt.
enum DBTText {
    /// A string literal that YAML and Jinja read in the same way.
    ///
    /// YAML has the escapes of JSON, and allows fewer characters unescaped.
    static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in JSONString.quoted(text).unicodeScalars {
            switch scalar.value {
            case 0x7F...0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A string literal of YAML whose text Jinja evaluates to the text.
    static func quotedForJinja(_ text: String) -> String {
        quoted(text.replacing(/\{[{%#]/.matchingSemantics(.unicodeScalar)) { "{{ '\($0.output)' }}" })
    }
}
