/// Percent-encoded text (RFC 3986, section 2.1).
enum PercentCoding {
    /// The bytes that the text stands for; a percent sign without two hexadecimal digits stands for itself.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        Array(text).withUnsafeBytes { text in
            var position = 0
            while position < text.count {
                let (byte, length) = byte(at: position, of: text)
                result.append(byte)
                position += length
            }
        }
        return result
    }

    /// The byte that stands at a position, and the length of its text.
    static func byte(at position: Int, of text: UnsafeRawBufferPointer) -> (byte: UInt8, length: Int) {
        let byte = text[position]
        guard byte == UInt8(ascii: "%"), position + 2 < text.count, let high = digit(text[position + 1]),
            let low = digit(text[position + 2])
        else { return (byte, 1) }
        return (high << 4 | low, 3)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
