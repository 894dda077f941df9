/// The bytes of a plan file as text, to be looked at and to be added to.
struct PlanText {
    let bytes: [UInt8]

    /// What ends the first line; `nil` where there is only one.
    var newline: String? {
        guard let end = bytes.firstIndex(where: Self.isNewline) else { return nil }
        if bytes[end] == UInt8(ascii: "\n") { return "\n" }
        return bytes[(end + 1)...].first == UInt8(ascii: "\n") ? "\r\n" : "\r"
    }

    /// What the line begins with in which a node stands; `nil` where something else stands before the node.
    func indent(at offset: Int) -> String? {
        let start = bytes[..<offset].lastIndex(where: Self.isNewline).map { $0 + 1 } ?? 0
        let before = bytes[start..<offset]
        guard before.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else { return nil }
        return String(decoding: before, as: UTF8.self)
    }

    /// What the line begins with in which a node stands, whatever else is before the node.
    func lineIndent(at offset: Int) -> String {
        let start = bytes[..<offset].lastIndex(where: Self.isNewline).map { $0 + 1 } ?? 0
        let blanks = bytes[start..<offset].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return String(decoding: blanks, as: UTF8.self)
    }

    /// What stands between a key and its value; `nil` where the value begins a line.
    func gap(_ key: MarkupRange, _ value: MarkupRange) -> String? {
        let between = bytes[key.endTag.upperBound..<value.startTag.lowerBound]
        guard between.allSatisfy(Self.isSpace), !between.contains(where: Self.isNewline) else { return nil }
        return String(decoding: between, as: UTF8.self)
    }

    /// Whether a line without anything stands between two places.
    func hasEmptyLine(between start: Int, and end: Int) -> Bool {
        var isEmpty = false
        for byte in bytes[start..<end] {
            if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && newline == "\r") {
                if isEmpty { return true }
                isEmpty = true
            } else if !Self.isSpace(byte) {
                isEmpty = false
            }
        }
        return false
    }

    /// Whether an element has this name.
    func isElement(_ name: StaticString, _ element: MarkupRange) -> Bool {
        name.withUTF8Buffer { bytes[(element.startTag.lowerBound + 1)...].starts(with: $0) }
    }

    /// Behind the last thing in a range that is no white space, or at the range's start.
    func endOfContent(in range: Range<Int>) -> Int {
        bytes[range].lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? range.lowerBound
    }

    /// Whether a line ends in a range.
    func hasNewline(in range: Range<Int>) -> Bool { bytes[range].contains(where: Self.isNewline) }

    /// The bytes with others in place of a range.
    func replacing(_ range: Range<Int>, with text: String) -> [UInt8] {
        Array(bytes[..<range.lowerBound]) + Array(text.utf8) + Array(bytes[range.upperBound...])
    }

    private static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func isSpace(_ byte: UInt8) -> Bool {
        isNewline(byte) || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
