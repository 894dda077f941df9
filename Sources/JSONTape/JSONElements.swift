/// What can be found out about a JSON text without parsing it.
public enum JSONElements {
    /// The position of the quotation mark that closes the string that begins at `start`.
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

    /// The key, without its quotation marks, and the value of an object's member; `nil` if the text is not a member.
    public static func member(
        _ text: UnsafeRawBufferPointer
    ) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard text.first == UInt8(ascii: "\""), let end = stringEnd(text, from: 0) else { return nil }
        guard let colon = text[(end + 1)...].firstIndex(where: { !isSpace($0) }), text[colon] == UInt8(ascii: ":"),
            let start = text[(colon + 1)...].firstIndex(where: { !isSpace($0) })
        else { return nil }
        return (UnsafeRawBufferPointer(rebasing: text[1..<end]), UnsafeRawBufferPointer(rebasing: text[start...]))
    }

    /// Whether the byte is white space in JSON.
    @inlinable
    public static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Whether a text that the parser refused because of a number is valid JSON, and the number is only too large.
    ///
    /// The parser stops at such a number, so the text is parsed again with a zero in place of each number.
    /// - Throws: Only `memory`, if there is not enough to parse the text again.
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

    /// The text with `0` and spaces in place of each number, and the parser's padding after it; `nil` if a number does not
    /// follow RFC 8259.
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

    /// The end of the bytes up to the next comma, closing bracket or white space.
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

    /// Whether a text is a number of RFC 8259, section 6.
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
