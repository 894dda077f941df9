/// Writes an event as a sender might, with random white space and escapes.
package struct SentText {
    private var source: CaseSource
    private let allowsNewlines: Bool
    private var text = ""

    /// The text of a value; with `allowsNewlines`, white space may include newlines, which NDJSON does not allow.
    package static func of(_ value: ReferenceJSON, allowsNewlines: Bool, _ source: inout CaseSource) -> [UInt8] {
        var writer = SentText(source: CaseSource(seed: source.next()), allowsNewlines: allowsNewlines)
        writer.append(value)
        return Array(writer.text.utf8)
    }

    private mutating func space() {
        guard source.once(in: 8) else { return }
        text += source.pick(allowsNewlines ? [" ", "\n", "\t", "\r\n", "   "] : [" ", "\t", "\r", "  "])
    }

    private mutating func append(_ value: ReferenceJSON) {
        space()
        switch value {
        case .null: text += "null"
        case .boolean(let truth): text += truth ? "true" : "false"
        case .number(let number): text += number
        case .string(let codePoints): append(codePoints)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                append(element)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                space()
                append(member.key)
                space()
                text += ":"
                append(member.value)
            }
            text += "}"
        }
        space()
    }

    private mutating func append(_ codePoints: [UInt32]) {
        text += "\""
        for codePoint in codePoints { append(codePoint) }
        text += "\""
    }

    private mutating func append(_ codePoint: UInt32) {
        switch codePoint {
        case 0x22, 0x5C: text += source.once(in: 2) ? "\\" + String(codePoints: [codePoint]) : escape(codePoint)
        case 0x2F where source.once(in: 2): text += "\\/"
        case 0x0A where source.once(in: 2): text += "\\n"
        case 0x09 where source.once(in: 2): text += "\\t"
        case 0..<0x20: text += escape(codePoint)
        case _ where source.once(in: 6):
            if codePoint > 0xFFFF {
                text += escape(0xD800 + (codePoint - 0x10000) / 0x400) + escape(0xDC00 + (codePoint - 0x10000) % 0x400)
            } else {
                text += escape(codePoint)
            }
        default: text += String(codePoints: [codePoint])
        }
    }

    private mutating func escape(_ unit: UInt32) -> String {
        let digits = String(unit, radix: 16, uppercase: source.once(in: 2))
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
