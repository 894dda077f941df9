import EventSchema

/// How verdicts are written as JSON: the same in an HTTP answer and in the quarantine.
package enum ViolationEncoding {
    /// Appends an array with one object a violation: `code`, `path`, `expected`, `found`, and `plan` where it has a place.
    ///
    /// The text is one line: every control character in it is escaped.
    package static func appendJSON(of violations: [Violation], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (position, violation) in violations.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            appendMembers(of: violation, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private static func appendMembers(of violation: Violation, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"code":"#.utf8)
        appendString(violation.code.rawValue, to: &bytes)
        bytes.append(contentsOf: #","path":"#.utf8)
        appendString(violation.path, to: &bytes)
        bytes.append(contentsOf: #","expected":"#.utf8)
        appendString(violation.expected, to: &bytes)
        bytes.append(contentsOf: #","found":"#.utf8)
        appendString(violation.found, to: &bytes)
        if let location = violation.location {
            bytes.append(contentsOf: #","plan":"#.utf8)
            appendString(location.description, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends a JSON string with its quotes.
    package static func appendString(_ text: String, to bytes: inout [UInt8]) {
        appendString(utf8: text.utf8, to: &bytes)
    }

    /// Appends a JSON string with its quotes; `text` must be valid UTF-8.
    package static func appendString(utf8 text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            appendEscaped(byte, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    // DEL is escaped too: JSON does not ask for it, terminals do.
    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
        case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
        case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
        case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
        case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
        case 0..<0x20, 0x7F:
            bytes.append(contentsOf: #"\u00"#.utf8)
            bytes.append(hexadecimalDigit(byte >> 4))
            bytes.append(hexadecimalDigit(byte & 0xF))
        default: bytes.append(byte)
        }
    }

    private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}
