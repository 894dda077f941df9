/// A decimal number with all its digits, as money needs it.
///
/// Equality and order go by value, so `1.50` equals `1.5`; the text keeps the fraction as it was written.
public struct ExactDecimal: Sendable {
    /// The most digits a text may have, counted after its exponent is written out.
    public static let maximumDigits = 1000

    /// Whether it is below zero; zero itself is not.
    public let isNegative: Bool
    /// The digits 0 to 9, most significant first, without leading zeros but for the one before a point.
    private let digits: [UInt8]
    /// How many of `digits` stand behind the point.
    private let scale: Int

    /// Reads a number in the grammar of JSON (RFC 8259); anything else, and more than `maximumDigits`, is `nil`.
    public init?(text: UnsafeRawBufferPointer) {
        guard text.count <= 2 * Self.maximumDigits else { return nil }
        var position = 0
        var isNegative = false
        if position < text.count, text[position] == UInt8(ascii: "-") {
            isNegative = true
            position += 1
        }
        let whole = Self.digits(of: text, at: &position)
        guard let first = whole.first, first != 0 || whole.count == 1 else { return nil }
        var fraction: [UInt8] = []
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position += 1
            fraction = Self.digits(of: text, at: &position)
            guard !fraction.isEmpty else { return nil }
        }
        guard let exponent = Self.exponent(of: text, at: &position), position == text.count else { return nil }

        var digits = whole + fraction
        var scale = fraction.count - exponent
        // Zero is zero, whatever its exponent.
        if abs(scale) > Self.maximumDigits, digits.allSatisfy({ $0 == 0 }) { scale = fraction.count }
        guard abs(scale) <= Self.maximumDigits else { return nil }
        if scale < 0 {
            digits += [UInt8](repeating: 0, count: -scale)
            scale = 0
        }
        if digits.count <= scale {
            digits = [UInt8](repeating: 0, count: scale + 1 - digits.count) + digits
        }
        let leadingZeros = digits.prefix(digits.count - scale - 1).prefix { $0 == 0 }.count
        digits.removeFirst(leadingZeros)
        guard digits.count <= Self.maximumDigits else { return nil }
        self.digits = digits
        self.scale = scale
        self.isNegative = isNegative && digits.contains { $0 != 0 }
    }

    /// Reads a number in the grammar of JSON (RFC 8259); anything else, and more than `maximumDigits`, is `nil`.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ ExactDecimal(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = value
    }

    /// The number as an Int64, where it is whole and fits.
    public var int64: Int64? {
        guard digits.suffix(scale).allSatisfy({ $0 == 0 }) else { return nil }
        var value: Int64 = 0
        for digit in digits.dropLast(scale) {
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = shifted.addingReportingOverflow(isNegative ? -Int64(digit) : Int64(digit))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    /// How many digits stand between the first and the last that is not zero.
    public var significantDigits: Int { significant.digits.count }

    /// Whether nothing but zeros stands behind the point.
    public var isWhole: Bool { digits.suffix(scale).allSatisfy { $0 == 0 } }

    /// The number in plain digits, as ASCII.
    public var text: [UInt8] {
        var text: [UInt8] = isNegative ? [UInt8(ascii: "-")] : []
        for (index, digit) in digits.enumerated() {
            if index == digits.count - scale { text.append(UInt8(ascii: ".")) }
            text.append(UInt8(ascii: "0") + digit)
        }
        return text
    }

    private static func digits(of text: UnsafeRawBufferPointer, at position: inout Int) -> [UInt8] {
        var digits: [UInt8] = []
        while position < text.count, let digit = Digits.value(of: text[position]) {
            digits.append(UInt8(digit))
            position += 1
        }
        return digits
    }

    private static func exponent(of text: UnsafeRawBufferPointer, at position: inout Int) -> Int? {
        guard position < text.count, text[position] | 0x20 == UInt8(ascii: "e") else { return 0 }
        position += 1
        var sign = 1
        if position < text.count, text[position] == UInt8(ascii: "-") || text[position] == UInt8(ascii: "+") {
            sign = text[position] == UInt8(ascii: "-") ? -1 : 1
            position += 1
        }
        let digits = digits(of: text, at: &position)
        let significant = digits.drop { $0 == 0 }
        guard !digits.isEmpty else { return nil }
        // Beyond any limit; only zero takes no notice of it.
        guard significant.count <= 6 else { return sign * 1_000_000 }
        return sign * significant.reduce(0) { $0 * 10 + Int($1) }
    }
}

extension ExactDecimal: Comparable, Hashable {
    /// What decides about equality: the digits without zeros at either end, and where the point stands.
    fileprivate var significant: (digits: ArraySlice<UInt8>, pointPosition: Int) {
        let leading = digits.prefix { $0 == 0 }.count
        let trailing = digits.reversed().prefix { $0 == 0 }.count
        guard leading < digits.count else { return ([], 0) }
        return (digits[leading..<digits.count - trailing], digits.count - scale - leading)
    }

    /// Compares by value.
    public static func == (left: ExactDecimal, right: ExactDecimal) -> Bool {
        let (a, b) = (left.significant, right.significant)
        return left.isNegative == right.isNegative && a.pointPosition == b.pointPosition && a.digits == b.digits
    }

    /// Compares by value.
    public static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        return left.isNegative ? isSmaller(right, left) : isSmaller(left, right)
    }

    private static func isSmaller(_ left: ExactDecimal, _ right: ExactDecimal) -> Bool {
        let (a, b) = (left.significant, right.significant)
        if a.digits.isEmpty || b.digits.isEmpty { return a.digits.isEmpty && !b.digits.isEmpty }
        if a.pointPosition != b.pointPosition { return a.pointPosition < b.pointPosition }
        return a.digits.lexicographicallyPrecedes(b.digits)
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        let (digits, pointPosition) = significant
        hasher.combine(isNegative)
        hasher.combine(pointPosition)
        hasher.combine(digits)
    }
}

extension ExactDecimal: CustomStringConvertible {
    /// The number in plain digits.
    public var description: String { String(decoding: text, as: UTF8.self) }
}
