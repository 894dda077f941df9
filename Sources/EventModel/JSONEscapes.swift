/// The escapes of JSON's strings.
enum JSONEscapes {
    /// The UTF-8 of a string that is given without its quotation marks.
    ///
    /// What is no escape of JSON's stays as it is, and a lone surrogate becomes U+FFFD: any bytes may be given.
    static func resolved(in text: UnsafeRawBufferPointer) -> [UInt8] {
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
            if let single = single(text[position + 1]) {
                result.append(single)
                position += 2
            } else if let (scalar, length) = unicode(text, at: position) {
                result.append(contentsOf: Array(String(Character(scalar)).utf8))
                position += length
            } else {
                result.append(byte)
                position += 1
            }
        }
        return result
    }

    private static func single(_ letter: UInt8) -> UInt8? {
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

    /// The code point of `\uXXXX`, or of two of them that are a pair, and how many bytes it takes.
    private static func unicode(_ text: UnsafeRawBufferPointer, at position: Int) -> (Unicode.Scalar, length: Int)? {
        guard let first = unit(text, at: position) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        if UTF16.isLeadSurrogate(first), let second = unit(text, at: position + 6), UTF16.isTrailSurrogate(second) {
            let value = 0x10000 + (UInt32(first) & 0x3FF) << 10 + (UInt32(second) & 0x3FF)
            if let scalar = Unicode.Scalar(value) { return (scalar, 12) }
        }
        return ("\u{FFFD}", 6)
    }

    private static func unit(_ text: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
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
