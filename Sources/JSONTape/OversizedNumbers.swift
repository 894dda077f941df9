/// The numbers of a text that simdjson refuses, because they are whole and beyond 64 bits, or beyond the range of a double.
///
/// The text is parsed with zeros in their place, and the tape then gets the places of these numbers in the text. That takes several
/// times as long as parsing alone, but only for texts that have such a number.
struct OversizedNumbers {
    /// The text with a zero and spaces in place of each of these numbers, and the parser's padding after it.
    let masked: [UInt8]
    /// The offsets of these numbers in the text, in ascending order; never empty.
    private let offsets: [Int]

    /// Finds the numbers; `nil` if there are none, or if a number does not follow RFC 8259.
    init?(in text: UnsafeRawBufferPointer) {
        var masked = Array(text) + [UInt8](repeating: 0, count: JSONParser.padding)
        var offsets: [Int] = []
        var position = 0
        while position < text.count {
            if text[position] == UInt8(ascii: "\"") {
                guard let end = JSONElements.stringEnd(text, from: position) else { return nil }
                position = end + 1
            } else if NumberToken.mayStart(text[position]) {
                let end = Self.end(ofTokenAt: position, in: text)
                guard let token = NumberToken(UnsafeRawBufferPointer(rebasing: text[position..<end])) else {
                    return nil
                }
                if token.isOversized {
                    offsets.append(position)
                    masked[position] = UInt8(ascii: "0")
                    for index in position + 1..<end { masked[index] = UInt8(ascii: " ") }
                }
                position = end
            } else {
                position += 1
            }
        }
        guard !offsets.isEmpty else { return nil }
        (self.masked, self.offsets) = (masked, offsets)
    }

    /// Writes the places of the numbers to the tape of the masked text.
    ///
    /// `words` are the words of the tape, which belong to the parser.
    func restore(in tape: JSONTape, _ words: UnsafeMutablePointer<UInt64>) {
        var next = 0
        tape.forEachNumber { index, offset in
            guard next < offsets.count, offsets[next] == offset else { return }
            next += 1
            words[index] = UInt64(JSONTape.Kind.double.byte) << 56
            words[index + 1] = JSONTape.oversizedBits | UInt64(truncatingIfNeeded: offset)
        }
    }

    /// The end of the bytes up to the next comma, closing bracket or white space.
    private static func end(ofTokenAt start: Int, in text: UnsafeRawBufferPointer) -> Int {
        var position = start
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: return position
            default: position += 1
            }
        }
        return position
    }
}

/// A number as it is written.
struct NumberToken {
    private let text: UnsafeRawBufferPointer
    private let wholeDigits: Int
    /// The exponent; limited to a million.
    private let exponent: Int
    private let isWhole: Bool

    /// Whether a number may begin with this byte.
    static func mayStart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Whether a byte may be part of a number.
    static func mayContain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): true
        default: mayStart(byte)
        }
    }

    /// Reads a number of RFC 8259, section 6; `nil` for anything else.
    init?(_ text: UnsafeRawBufferPointer) {
        var position = 0
        func digits() -> Range<Int> {
            let start = position
            while position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) {
                position += 1
            }
            return start..<position
        }
        func take(_ bytes: UInt8...) -> UInt8? {
            guard position < text.count, bytes.contains(text[position]) else { return nil }
            position += 1
            return text[position - 1]
        }
        _ = take(UInt8(ascii: "-"))
        let whole = digits()
        guard whole.count == 1 || (whole.count > 1 && text[whole.lowerBound] != UInt8(ascii: "0")) else { return nil }
        var isWhole = true
        if take(UInt8(ascii: ".")) != nil {
            isWhole = false
            if digits().isEmpty { return nil }
        }
        var exponent = 0
        if take(UInt8(ascii: "e"), UInt8(ascii: "E")) != nil {
            isWhole = false
            let sign = take(UInt8(ascii: "+"), UInt8(ascii: "-"))
            let range = digits()
            if range.isEmpty { return nil }
            exponent = text[range].reduce(0) { min(1_000_000, $0 * 10 + Int($1 - UInt8(ascii: "0"))) }
            if sign == UInt8(ascii: "-") { exponent = -exponent }
        }
        guard position == text.count else { return nil }
        self.text = text
        self.isWhole = isWhole
        self.exponent = exponent
        wholeDigits = whole.count
    }

    /// Whether simdjson refuses it.
    var isOversized: Bool {
        if isWhole {
            guard wholeDigits > 18 else { return false }
            let text = String(decoding: text, as: UTF8.self)
            return Int64(text) == nil && UInt64(text) == nil
        }
        // The greatest double has 309 digits before the point.
        guard wholeDigits + exponent > 308 else { return false }
        return Double(String(decoding: text, as: UTF8.self))?.isFinite != true
    }
}
