/// The positions of the digits in a decimal's text, such as `-12.50` or `1e-7`.
struct DecimalText {
    /// The maximum number of digits, before and after the decimal point together.
    ///
    /// A binary `numeric` has at most 3,000 digits of base 10,000, of which the first and the last can be partly filled.
    static let maximumDigits = 11_990

    let isNegative: Bool
    let isZero: Bool
    /// The number of digits before the decimal point once the exponent is applied; zero or less for 0.0….
    let integerDigits: Int
    /// The number of digits to show after the decimal point.
    let scale: Int

    private let text: UnsafeRawBufferPointer
    private let digitsStart: Int
    private let digitCount: Int
    /// The number of the text's digits before its own decimal point.
    private let ownPoint: Int
    private let exponent: Int

    /// Finds the digits; `nil` if the text is not a decimal, or if the server could not store it.
    init?(_ text: UnsafeRawBufferPointer) {
        self.text = text
        isNegative = text.first == UInt8(ascii: "-")
        digitsStart = isNegative ? 1 : 0
        var position = digitsStart
        var digits = 0
        var leadingZeros = 0
        var pointPlace: Int?
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "."), pointPlace == nil {
                pointPlace = digits
            } else if UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
                if byte == UInt8(ascii: "0"), leadingZeros == digits { leadingZeros += 1 }
                digits += 1
            } else {
                break
            }
            position += 1
        }
        guard digits > 0, let exponent = Self.exponent(text, at: position) else { return nil }
        self.exponent = exponent
        digitCount = digits
        ownPoint = pointPlace ?? digits
        isZero = leadingZeros == digits
        // An exponent has at most seven digits, so none of this can overflow.
        integerDigits = ownPoint - leadingZeros + exponent
        scale = max(0, digits - ownPoint - exponent)
        guard scale <= Self.maximumDigits else { return nil }
        guard isZero || max(0, integerDigits) + scale <= Self.maximumDigits else { return nil }
    }

    private static func exponent(_ text: UnsafeRawBufferPointer, at start: Int) -> Int? {
        guard start < text.count else { return 0 }
        guard text[start] | 0x20 == UInt8(ascii: "e"), start + 1 < text.count else { return nil }
        var position = start + 1
        let isNegative = text[position] == UInt8(ascii: "-")
        if isNegative || text[position] == UInt8(ascii: "+") { position += 1 }
        guard position < text.count, text.count - position <= 7 else { return nil }
        var value = 0
        for byte in text[position...] {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }

    /// The range of groups of four digits, counted from the decimal point: group 0 ends before it, -1 begins after it.
    var groups: Range<Int> {
        guard !isZero else { return 0..<0 }
        let last = -((scale + 3) >> 2)
        let end = (integerDigits + 3) >> 2  // the shift rounds down even below zero
        return last..<max(last, end)
    }

    /// Returns four decimal digits as one digit of base 10,000.
    func value(ofGroup group: Int) -> Int16 {
        let first = ownPoint + exponent - (group + 1) * 4
        var value: Int16 = 0
        for index in first..<first + 4 {
            value = value * 10 + digit(index)
        }
        return value
    }

    private func digit(_ index: Int) -> Int16 {
        guard index >= 0, index < digitCount else { return 0 }
        let place = digitsStart + (index < ownPoint ? index : index + 1)
        return Int16(text[place] &- UInt8(ascii: "0"))
    }
}
