/// A simple writer of the canonical form.
package enum ReferenceWriter {
    package static func string(_ codePoints: [UInt32]) -> String {
        var text = "\""
        for codePoint in codePoints {
            switch codePoint {
            case 0x22: text += "\\\""
            case 0x5C: text += "\\\\"
            case 0x08: text += "\\b"
            case 0x09: text += "\\t"
            case 0x0A: text += "\\n"
            case 0x0C: text += "\\f"
            case 0x0D: text += "\\r"
            case 0..<0x20: text += "\\u00" + (codePoint < 16 ? "0" : "") + String(codePoint, radix: 16)
            default: text += String(codePoints: [codePoint])
            }
        }
        return text + "\""
    }

    /// Whole numbers, and those beyond the range of a double, keep their digits; others have the form of a double.
    package static func number(_ text: String) -> String {
        if Int64(text) == 0 { return "0" }
        if Int64(text) != nil || UInt64(text) != nil || !text.contains(where: { ".eE".contains($0) }) { return text }
        return Double(text)?.isFinite == true ? double(text) : text
    }

    /// The fewest digits that read back as the same double, without an exponent if six decimal places are enough; whole numbers of 64
    /// bits keep their digits.
    package static func double(_ text: String) -> String {
        if Int64(text) == 0 { return "0" }
        if Int64(text) != nil || UInt64(text) != nil { return text }
        guard let value = Double(text) else { return "not a number" }
        return value == 0 ? "0" : shortest(value)
    }

    private static func shortest(_ value: Double) -> String {
        let text = value.description
        if text.hasSuffix(".0") { return String(text.dropLast(2)) }
        if text.contains("e-"), let plain = ReferenceDecimal(text), plain.fraction.count <= 6 { return plain.text }
        return text
    }

    package static func value(_ value: ReferenceJSON) -> String {
        switch value {
        case .null: "null"
        case .boolean(let truth): truth ? "true" : "false"
        case .number(let text): number(text)
        case .string(let codePoints): string(codePoints)
        case .array(let elements): "[" + elements.map(Self.value).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { string($0.key) + ":" + Self.value($0.value) }.joined(separator: ",") + "}"
        }
    }

    /// A step of a JSONPath.
    package static func step(_ key: [UInt32]) -> String {
        let text = String(codePoints: key)
        let isName = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x80 || scalar == "_" || ("0"..."9").contains(scalar)
                || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        }
        if isName, let first = text.unicodeScalars.first, !("0"..."9").contains(first) { return "." + text }
        var escaped = ""
        for codePoint in key {
            switch codePoint {
            case 0x27: escaped += "\\'"
            case 0x5C: escaped += "\\\\"
            case 0..<0x20: escaped += "\\u00" + (codePoint < 16 ? "0" : "") + String(codePoint, radix: 16)
            default: escaped += String(codePoints: [codePoint])
            }
        }
        return "['" + escaped + "']"
    }
}
