/// A decimal number that keeps all its digits, for amounts of money.
///
/// Numbers are compared by value, so `1.50` equals `1.5`; the text keeps the trailing zeros.
public struct ExactDecimal: Sendable {
    /// The maximum number of digits, counted after an exponent is written out.
    public static let maximumDigits = 1000

    /// Whether the number is less than zero.
    public let isNegative: Bool
    /// The digits, as a number.
    private let storage: Storage
    /// The number of digits after the decimal point.
    private let scale: Int

    /// Most numbers are short and need no allocation.
    private enum Storage {
        /// At most 18 digits.
        case narrow(UInt64)
        /// The digits 0 to 9, most significant first, without leading zeros except for one before the point.
        case wide([UInt8])
    }

    /// The number of digits that always fit into a word.
    private static let narrowDigits = 18

    private init(isNegative: Bool, storage: Storage, scale: Int) {
        self.isNegative = isNegative
        self.storage = storage
        self.scale = scale
    }

    private init(isNegative: Bool, narrow: UInt64, scale: Int) {
        self.init(isNegative: isNegative && narrow != 0, storage: .narrow(narrow), scale: scale)
    }

    /// Creates a decimal from a whole number.
    public init(_ value: Int) {
        let magnitude = value.magnitude
        guard magnitude > 999_999_999_999_999_999 else {
            self.init(isNegative: value < 0, narrow: UInt64(magnitude), scale: 0)
            return
        }
        let digits = String(magnitude).utf8.map { $0 - UInt8(ascii: "0") }
        self.init(isNegative: value < 0, storage: .wide(digits), scale: 0)
    }

    /// Creates a decimal from the shortest digits that read back as this double; `nil` if it is infinite or NaN.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(value.description)
    }

    /// Creates the decimal `coefficient` / 10^`scale`: 255 and 2 are 2.55.
    ///
    /// `nil` if the scale is negative, or the number has more than `maximumDigits` digits.
    public init?(coefficient: Int, scale: Int) {
        guard scale >= 0, scale <= Self.narrowDigits else {
            guard scale >= 0, let value = ExactDecimal("\(coefficient)e-\(scale)") else { return nil }
            self = value
            return
        }
        let whole = ExactDecimal(coefficient)
        guard case .narrow(let digits) = whole.storage else {
            guard let value = ExactDecimal("\(coefficient)e-\(scale)") else { return nil }
            self = value
            return
        }
        self.init(isNegative: coefficient < 0, narrow: digits, scale: scale)
    }

    /// The digits 0 to 9, most significant first, without leading zeros except for one before the point.
    private var digits: [UInt8] {
        switch storage {
        case .wide(let digits): return digits
        case .narrow(var rest):
            var digits: [UInt8] = []
            while rest > 0 || digits.count <= scale {
                digits.append(UInt8(rest % 10))
                rest /= 10
            }
            return digits.reversed()
        }
    }

    /// Reads a number in JSON's grammar (RFC 8259); `nil` for anything else, and for more than `maximumDigits` digits.
    public init?(text: UnsafeRawBufferPointer) {
        if let narrow = ExactDecimal(narrow: text) {
            self = narrow
            return
        }
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
        // Zero remains zero with any exponent.
        if abs(scale) >= Self.maximumDigits, digits.allSatisfy({ $0 == 0 }) { scale = fraction.count }
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
        if digits.count <= Self.narrowDigits {
            let narrow = digits.reduce(0) { $0 * 10 + UInt64($1) }
            self.init(isNegative: isNegative, narrow: narrow, scale: scale)
        } else {
            self.init(isNegative: isNegative && digits.contains { $0 != 0 }, storage: .wide(digits), scale: scale)
        }
    }

    /// Reads the common case: at most 18 digits, perhaps with a point.
    private init?(narrow text: UnsafeRawBufferPointer) {
        guard let first = text.first else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        var coefficient: UInt64 = 0
        var digits = 0
        var point: Int?
        for position in (isNegative ? 1 : 0)..<text.count {
            if text[position] == UInt8(ascii: ".") {
                guard point == nil, digits > 0 else { return nil }
                point = digits
                continue
            }
            guard let digit = Digits.value(of: text[position]), digits < Self.narrowDigits else { return nil }
            // Only a number less than one begins with a zero.
            if point == nil, digits == 1, coefficient == 0 { return nil }
            coefficient = coefficient * 10 + UInt64(digit)
            digits += 1
        }
        guard digits > 0, point != digits else { return nil }
        self.init(isNegative: isNegative, narrow: coefficient, scale: point.map { digits - $0 } ?? 0)
    }

    /// Reads a number in JSON's grammar (RFC 8259); `nil` for anything else, and for more than `maximumDigits` digits.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ ExactDecimal(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = value
    }

    /// The number as an Int64; `nil` if it has a fraction or is out of range.
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

    /// The number of digits from the first to the last that is not zero.
    public var significantDigits: Int { significant.digits.count }

    /// Whether the fraction is zero.
    public var isWhole: Bool { digits.suffix(scale).allSatisfy { $0 == 0 } }

    /// The number in ASCII digits, without an exponent.
    public var text: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: textLength) { bytes, count in
            count = bytes.baseAddress.map { write(to: $0) } ?? 0
        }
    }

    /// The number of bytes that `write(to:)` writes.
    public var textLength: Int {
        (isNegative ? 1 : 0) + digitCount + (scale > 0 ? 1 : 0)
    }

    /// Writes the number in ASCII digits to memory with room for `textLength` bytes, and returns that number.
    public func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let length = textLength
        // From the last digit to the first.
        var position = length - 1
        func put(_ digit: UInt8, at index: Int) {
            bytes[position] = UInt8(ascii: "0") + digit
            position -= 1
            guard scale > 0, index == scale - 1 else { return }
            bytes[position] = UInt8(ascii: ".")
            position -= 1
        }
        switch storage {
        case .narrow(var rest):
            for index in 0..<digitCount {
                put(UInt8(truncatingIfNeeded: rest % 10), at: index)
                rest /= 10
            }
        case .wide(let digits):
            for (index, digit) in digits.reversed().enumerated() { put(digit, at: index) }
        }
        if isNegative { bytes[0] = UInt8(ascii: "-") }
        return length
    }

    private var digitCount: Int {
        switch storage {
        case .wide(let digits): return digits.count
        case .narrow(var rest):
            var count = 1
            while rest >= 10 {
                rest /= 10
                count += 1
            }
            return max(count, scale + 1)
        }
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
        // Out of range, unless the number is zero.
        guard significant.count <= 6 else { return sign * 1_000_000 }
        return sign * significant.reduce(0) { $0 * 10 + Int($1) }
    }
}

extension ExactDecimal: Comparable, Hashable {
    /// What equality compares: the digits without zeros at either end, and the position of the point.
    fileprivate var significant: (digits: ArraySlice<UInt8>, pointPosition: Int) {
        let leading = digits.prefix { $0 == 0 }.count
        let trailing = digits.reversed().prefix { $0 == 0 }.count
        guard leading < digits.count else { return ([], 0) }
        return (digits[leading..<digits.count - trailing], digits.count - scale - leading)
    }

    /// Both numbers as multiples of the same unit; `nil` if one of them is too long.
    private static func aligned(_ left: ExactDecimal, _ right: ExactDecimal) -> (left: UInt64, right: UInt64)? {
        guard case .narrow(let a) = left.storage, case .narrow(let b) = right.storage else { return nil }
        func scaled(_ value: UInt64, by places: Int) -> UInt64? {
            var value = value
            for _ in 0..<max(0, places) {
                let (product, overflow) = value.multipliedReportingOverflow(by: 10)
                if overflow { return nil }
                value = product
            }
            return value
        }
        guard let a = scaled(a, by: right.scale - left.scale), let b = scaled(b, by: left.scale - right.scale) else {
            return nil
        }
        return (a, b)
    }

    /// Compares by value.
    public static func == (left: ExactDecimal, right: ExactDecimal) -> Bool {
        if let (a, b) = aligned(left, right) { return left.isNegative == right.isNegative && a == b }
        let (a, b) = (left.significant, right.significant)
        return left.isNegative == right.isNegative && a.pointPosition == b.pointPosition && a.digits == b.digits
    }

    /// Compares by value.
    public static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        return left.isNegative ? isSmaller(right, left) : isSmaller(left, right)
    }

    private static func isSmaller(_ left: ExactDecimal, _ right: ExactDecimal) -> Bool {
        if let (a, b) = aligned(left, right) { return a < b }
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
    /// The number in digits, without an exponent.
    public var description: String { String(decoding: text, as: UTF8.self) }
}

extension ExactDecimal: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates a decimal from a whole number.
    public init(integerLiteral value: Int) {
        self.init(value)
    }

    /// Creates a decimal from a literal of at most 15 digits; one with more has the digits of the nearest double.
    public init(floatLiteral value: Double) {
        guard let decimal = ExactDecimal(value) else { preconditionFailure("a literal is finite") }
        self = decimal
    }
}
