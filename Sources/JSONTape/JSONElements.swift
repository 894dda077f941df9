/// Finds where the elements of an array stand without parsing them.
///
/// For the two cases in which an array cannot be parsed as one document: one element of it is beyond what the
/// parser takes, or all together take more memory than one body should.
public enum JSONElements {
    /// The bytes of each element of the array that `text` is, without the spaces around it.
    ///
    /// Brackets and strings must be closed; what an element holds is for its own parse to judge.
    /// - Returns: `nil` where the text is no array, or its elements are not parted by single commas.
    public static func ranges(in text: UnsafeRawBufferPointer) -> [Range<Int>]? {
        var position = skipSpace(text, from: 0)
        guard position < text.count, text[position] == UInt8(ascii: "[") else { return nil }
        position = skipSpace(text, from: position + 1)
        var ranges: [Range<Int>] = []
        guard position < text.count else { return nil }
        if text[position] != UInt8(ascii: "]") {
            while true {
                guard let end = elementEnd(text, from: position) else { return nil }
                var trimmed = end
                while trimmed > position, isSpace(text[trimmed - 1]) { trimmed -= 1 }
                guard trimmed > position else { return nil }
                ranges.append(position..<trimmed)
                position = skipSpace(text, from: end + 1)
                if text[end] == UInt8(ascii: "]") { break }
                guard position < text.count else { return nil }
            }
        } else {
            position = skipSpace(text, from: position + 1)
        }
        return position == text.count ? ranges : nil
    }

    /// The position of the comma or bracket that ends the element; `nil` where none does.
    private static func elementEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var depth = 0
        var position = start
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                guard let end = stringEnd(text, from: position) else { return nil }
                position = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0:
                return position
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth >= 0 else { return nil }
            default:
                break
            }
            position += 1
        }
        return nil
    }

    /// The position of the quote that closes the string that opens at `start`.
    private static func stringEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start + 1
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""): return position
            default: position += 1
            }
        }
        return nil
    }

    private static func skipSpace(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position < text.count, isSpace(text[position]) { position += 1 }
        return position
    }

    /// Whether JSON takes the byte for white space.
    public static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Whether a text that the parser refused for a number breaks no grammar: the number is only too large.
    ///
    /// The parser stops at such a number, so the text is parsed again with a zero in place of each.
    /// - Throws: `memory`, and nothing else, where there was none to parse it again.
    public static func hasOnlyOversizedNumbers(_ text: UnsafeRawBufferPointer) throws(JSONError) -> Bool {
        guard let masked = maskingNumbers(of: text) else { return false }
        var parser = JSONParser()
        let error = masked.withUnsafeBytes { bytes -> JSONError? in
            do throws(JSONError) {
                _ = try parser.parse(UnsafeRawBufferPointer(rebasing: bytes.prefix(text.count)))
                return nil
            } catch {
                return error
            }
        }
        if error == .memory { throw .memory }
        return error == nil
    }

    /// The text with `0` and spaces in place of each number, and the parser's padding; `nil` where a number breaks RFC
    /// 8259.
    private static func maskingNumbers(of text: UnsafeRawBufferPointer) -> [UInt8]? {
        var masked = Array(text) + [UInt8](repeating: 0, count: JSONParser.padding)
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") {
                guard let end = stringEnd(text, from: position) else { return nil }
                position = end + 1
            } else if byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                let end = numberEnd(text, from: position)
                guard isNumber(UnsafeRawBufferPointer(rebasing: text[position..<end])) else { return nil }
                masked[position] = UInt8(ascii: "0")
                for index in position + 1..<end { masked[index] = UInt8(ascii: " ") }
                position = end
            } else {
                position += 1
            }
        }
        return masked
    }

    /// The end of the run of bytes that can stand in or directly behind a number.
    private static func numberEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: return position
            default: position += 1
            }
        }
        return position
    }

    /// RFC 8259, section 6.
    private static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        func digits() -> Int {
            let start = position
            while position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) {
                position += 1
            }
            return position - start
        }
        func take(_ bytes: UInt8...) -> Bool {
            guard position < text.count, bytes.contains(text[position]) else { return false }
            position += 1
            return true
        }
        _ = take(UInt8(ascii: "-"))
        let first = position
        let whole = digits()
        guard whole == 1 || (whole > 1 && text[first] != UInt8(ascii: "0")) else { return false }
        if take(UInt8(ascii: ".")), digits() == 0 { return false }
        if take(UInt8(ascii: "e"), UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+"), UInt8(ascii: "-"))
            if digits() == 0 { return false }
        }
        return position == text.count
    }
}
