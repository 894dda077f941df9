/// A number whose text is its canonical form, so that it can be copied.
///
/// A decimal of at most 15 digits is the only one of its length that reads back as its double, so it is the shortest one if it
/// has no trailing zero. With at most six places after the point, `ByteBuilder` writes it without an exponent.
struct CanonicalNumber {
    private static let maximumDigits = 15
    private static let maximumPlaces = 6

    /// The digits without the point, as a number with the sign.
    private let digits: Int64
    /// The power of ten that the digits are divided by.
    private let divisor: Double

    /// Whether it has no point.
    var isWhole: Bool { divisor == 1 }

    /// The number, if it is whole.
    var integer: Int64 { digits }

    /// The double that is nearest to the number: both operands are exact, so the division rounds correctly.
    var double: Double { Double(digits) / divisor }

    /// Reads a number; `nil` for anything else, and for a number with another canonical form.
    @inline(__always)
    init?(_ text: UnsafeRawBufferPointer) {
        let isNegative = text.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        var (position, magnitude) = (start, Int64(0))
        Self.readDigits(text, &position, &magnitude)
        let wholeDigits = position - start
        guard wholeDigits > 0, wholeDigits == 1 || text[start] != UInt8(ascii: "0") else { return nil }
        var divisor = 1.0
        if position < text.count {
            guard text[position] == UInt8(ascii: "."), text[text.count - 1] != UInt8(ascii: "0") else { return nil }
            position += 1
            let first = position
            Self.readDigits(text, &position, &magnitude)
            let places = position - first
            guard places > 0, places <= Self.maximumPlaces, position == text.count else { return nil }
            for _ in 0..<places { divisor *= 10 }
        }
        // The point and the sign only make the limit a little lower.
        guard text.count <= Self.maximumDigits, !isNegative || magnitude > 0 else { return nil }
        digits = isNegative ? -magnitude : magnitude
        self.divisor = divisor
    }

    /// Reads the digits from a position on; the value of more than 18 of them has overflowed, and the caller declines them.
    @inline(__always)
    private static func readDigits(_ text: UnsafeRawBufferPointer, _ position: inout Int, _ value: inout Int64) {
        while position < text.count {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return }
            value = value &* 10 &+ Int64(digit)
            position &+= 1
        }
    }
}
