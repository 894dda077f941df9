/// The bytes of a plan file, with what an edit has to know about its white space.
struct PlanText {
    let bytes: [UInt8]

    /// The end of the first line; `nil` if there is only one line.
    var newline: String? {
        guard let end = bytes.firstIndex(where: Self.isNewline) else { return nil }
        if bytes[end] == UInt8(ascii: "\n") { return "\n" }
        return bytes[(end + 1)...].first == UInt8(ascii: "\n") ? "\r\n" : "\r"
    }

    /// The indentation of a node; `nil` if something else precedes it on its line.
    func indent(at offset: Int) -> String? {
        let start = bytes[..<offset].lastIndex(where: Self.isNewline).map { $0 + 1 } ?? 0
        let before = bytes[start..<offset]
        guard before.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else { return nil }
        return String(decoding: before, as: UTF8.self)
    }

    /// The indentation of the line that contains a node.
    func lineIndent(at offset: Int) -> String {
        let start = bytes[..<offset].lastIndex(where: Self.isNewline).map { $0 + 1 } ?? 0
        let blanks = bytes[start..<offset].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return String(decoding: blanks, as: UTF8.self)
    }

    /// The white space between a key and its value; `nil` if the value is on another line.
    func gap(_ key: MarkupRange, _ value: MarkupRange) -> String? {
        let between = bytes[key.endTag.upperBound..<value.startTag.lowerBound]
        guard between.allSatisfy(Self.isSpace), !between.contains(where: Self.isNewline) else { return nil }
        return String(decoding: between, as: UTF8.self)
    }

    /// Whether there is an empty line between two places.
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

    /// Whether an element has a name.
    func isElement(_ name: StaticString, _ element: MarkupRange) -> Bool {
        name.withUTF8Buffer { bytes[(element.startTag.lowerBound + 1)...].starts(with: $0) }
    }

    /// The position after the last byte in a range that is not white space, or the range's start.
    func endOfContent(in range: Range<Int>) -> Int {
        bytes[range].lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? range.lowerBound
    }

    /// Whether a line ends in a range.
    func hasNewline(in range: Range<Int>) -> Bool { bytes[range].contains(where: Self.isNewline) }

    /// The bytes with a range replaced by a text.
    func replacing(_ range: Range<Int>, with text: String) -> [UInt8] {
        Array(bytes[..<range.lowerBound]) + Array(text.utf8) + Array(bytes[range.upperBound...])
    }

    private static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func isSpace(_ byte: UInt8) -> Bool {
        isNewline(byte) || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
