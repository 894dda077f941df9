@_spi(CanonicalJSON) import EventModel
import EventValidation

/// A header field `ce-…`, which has an attribute of an event.
struct CloudEventHeader: Sendable {
    /// The attribute's name, in lower case.
    let name: [UInt8]
    /// The value as a JSON string; `nil` if it cannot be decoded.
    let value: [UInt8]?

    /// The maximum number of header fields of which a verdict says what is wrong.
    private static let maximumViolations = 10

    /// Reads a header field; `nil` if its name does not begin with `ce-`.
    ///
    /// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#3132-http-header-values.
    init?(_ name: String.UTF8View, _ value: String) {
        guard name.count > 3, name.prefix(3).equalsIgnoringCase("ce-") else { return nil }
        self.name = name.dropFirst(3).map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        self.value = Self.decode(value)
    }

    /// The text of a value as JSON; `nil` if a quoted string is not closed, or if the text is not UTF-8.
    private static func decode(_ value: String) -> [UInt8]? {
        // Where the field is not UTF-8, the parser has replaced its bytes by this character, so different values are equal.
        guard !value.unicodeScalars.contains("\u{FFFD}"), let plain = unquoted(value.utf8) else { return nil }
        guard let text = String(validating: PercentCoding.decode(plain), as: UTF8.self) else { return nil }
        var json: [UInt8] = []
        JSONString.append(text, to: &json)
        return json
    }

    /// A value without the quotation marks and backslashes of quoted strings (RFC 7230, section 3.2.6); `nil` if one is not
    /// closed.
    private static func unquoted(_ value: String.UTF8View) -> [UInt8]? {
        guard value.contains(UInt8(ascii: "\"")) else { return Array(value) }
        var plain: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in value {
            if isEscaped {
                plain.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                plain.append(byte)
            }
        }
        return isQuoted ? nil : plain
    }

    /// The fields that can be decoded and are given once, and what is wrong with the others.
    static func distinct(_ fields: [CloudEventHeader]) -> (valid: [CloudEventHeader], violations: [Violation]) {
        var violations: [Violation] = []
        var names: Set<[UInt8]> = []
        let valid = fields.filter { field in
            let isNew = names.insert(field.name).inserted
            guard isNew, field.value != nil else {
                if violations.count < maximumViolations { violations.append(field.violation(isRepeated: !isNew)) }
                return false
            }
            return true
        }
        return (valid, violations)
    }

    private func violation(isRepeated: Bool) -> Violation {
        let name = String(decoding: name, as: UTF8.self)
        return Violation(
            code: .malformedJSON,
            path: "$" + JSONPath.step(toKey: name),
            expected: "one header field 'ce-\(name)' in percent-encoded UTF-8",
            found: isRepeated ? "several" : "another encoding, or a quoted string that is not closed"
        )
    }
}
