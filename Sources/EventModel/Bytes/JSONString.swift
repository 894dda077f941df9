/// The strings of JSON (RFC 8259, section 7): which characters are escaped, how, and what an escape means.
@usableFromInline
package enum JSONString {
    /// Appends UTF-8 as a string with its quotation marks, on one line and without control characters.
    ///
    /// For text that people may see in a terminal, so DEL is escaped, too, which JSON does not require. `text` must be valid
    /// UTF-8.
    package static func append(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            if let escape = Escape(byte) {
                escape.append(to: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a string with its quotation marks, as `append` does with UTF-8.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        append(text.utf8, to: &bytes)
    }

    /// The string with its quotation marks, as `append` writes it.
    package static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 2)
        append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How one byte of a string is escaped, in the shortest form.
    package struct Escape {
        /// The bytes of the escape, the first one lowest.
        let text: UInt64
        let count: Int

        /// The escape of a control character, DEL, `"` or `\`; `nil` for any other byte.
        @inline(__always)
        package init?(_ byte: UInt8) {
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F else { return nil }
            self.init(escaping: byte)
        }

        init(escaping byte: UInt8) {
            let letter: UInt8? =
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
                case 0x08: UInt8(ascii: "b")
                case 0x09: UInt8(ascii: "t")
                case 0x0A: UInt8(ascii: "n")
                case 0x0C: UInt8(ascii: "f")
                case 0x0D: UInt8(ascii: "r")
                default: nil
                }
            if let letter {
                text = UInt64(letter) << 8 | UInt64(UInt8(ascii: "\\"))
                count = 2
            } else {
                // `\u00`, and two hexadecimal digits.
                let digits = UInt64(Self.hexadecimalDigit(byte & 0xF)) << 8 | UInt64(Self.hexadecimalDigit(byte >> 4))
                text = digits << 32 | 0x3030_755C
                count = 6
            }
        }

        private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
            value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        }

        func append(to bytes: inout [UInt8]) {
            for position in 0..<count { bytes.append(UInt8(truncatingIfNeeded: text >> UInt64(position * 8))) }
        }
    }
}

extension JSONString {
    /// The string in canonical form: with as few escapes as JSON allows, in their shortest form.
    package static func canonical(_ text: String) -> [UInt8] {
        var text = text
        var builder = ByteBuilder(capacity: text.utf8.count + 2)
        text.withUTF8 { _ = builder.appendUnpaddedString(UnsafeRawBufferPointer($0)) }
        return Array(builder.bytes)
    }
}

// MARK: - Reading

extension JSONString {
    /// The UTF-8 of a string that is given without its quotation marks.
    ///
    /// Any bytes may be given: an invalid escape is kept as it is, and a lone surrogate becomes U+FFFD.
    @usableFromInline
    package static func resolvingEscapes(in text: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var position = 0
        while position < text.count {
            let byte = text[position]
            guard byte == UInt8(ascii: "\\"), position + 1 < text.count else {
                result.append(byte)
                position += 1
                continue
            }
            if let character = character(of: text[position + 1]) {
                result.append(character)
                position += 2
            } else if let (scalar, length) = scalar(text, at: position) {
                result.append(contentsOf: Array(String(Character(scalar)).utf8))
                position += length
            } else {
                result.append(byte)
                position += 1
            }
        }
        return result
    }

    /// The character that a backslash and this letter stand for.
    private static func character(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The code point of `\uXXXX`, or of a surrogate pair of two such escapes, and the number of bytes it takes.
    private static func scalar(_ text: UnsafeRawBufferPointer, at position: Int) -> (Unicode.Scalar, length: Int)? {
        guard let first = codeUnit(text, at: position) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        if UTF16.isLeadSurrogate(first), let second = codeUnit(text, at: position + 6), UTF16.isTrailSurrogate(second) {
            let value = 0x10000 + (UInt32(first) & 0x3FF) << 10 + (UInt32(second) & 0x3FF)
            if let scalar = Unicode.Scalar(value) { return (scalar, 12) }
        }
        return ("\u{FFFD}", 6)
    }

    private static func codeUnit(_ text: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
        guard text.count - position >= 6, text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt16 = 0
        for index in 2..<6 {
            guard let digit = Character(Unicode.Scalar(text[position + index])).hexDigitValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}
