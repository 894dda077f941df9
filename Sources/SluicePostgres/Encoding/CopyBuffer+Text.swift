extension CopyBuffer {
    /// Appends the value of a JSON string; returns false if an escape is invalid.
    ///
    /// The value is never longer than the string's text, for which the caller has reserved room.
    mutating func appendUnescaped(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < text.count {
            let byte = text[position]
            guard byte == UInt8(ascii: "\\") else {
                append(byte)
                position += 1
                continue
            }
            guard position + 1 < text.count else { return false }
            let kind = text[position + 1]
            position += 2
            switch kind {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): append(kind)
            case UInt8(ascii: "b"): append(0x08 as UInt8)
            case UInt8(ascii: "f"): append(0x0C as UInt8)
            case UInt8(ascii: "n"): append(0x0A as UInt8)
            case UInt8(ascii: "r"): append(0x0D as UInt8)
            case UInt8(ascii: "t"): append(0x09 as UInt8)
            case UInt8(ascii: "u"):
                guard let scalar = Self.scalar(in: text, at: &position) else { return false }
                for unit in UTF8.encode(scalar) ?? .init() { append(unit) }
            default: return false
            }
        }
        return true
    }

    /// Reads four hexadecimal digits, and the second half of a surrogate pair if they are the first half.
    private static func scalar(in text: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar? {
        guard let first = codeUnit(in: text, at: position) else { return nil }
        position += 4
        guard 0xD800..<0xDC00 ~= first else { return Unicode.Scalar(first) }
        guard
            position + 6 <= text.count,
            text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u"),
            let second = codeUnit(in: text, at: position + 2), 0xDC00..<0xE000 ~= second
        else { return nil }
        position += 6
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private static func codeUnit(in text: UnsafeRawBufferPointer, at position: Int) -> UInt32? {
        guard position + 4 <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[position..<position + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
