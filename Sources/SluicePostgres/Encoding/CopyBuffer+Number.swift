extension CopyBuffer {
    /// Appends a `bigint` field; returns false if the text is not a 64-bit integer.
    @inline(__always)
    mutating func appendInteger(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let value = Self.integer(text) else { return false }
        append(Int32(8))
        append(value)
        return true
    }

    /// Appends a `double precision` field; returns false if the text is not a finite number.
    @inline(__always)
    mutating func appendDouble(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let value = Self.shortDouble(text) ?? Self.anyDouble(text) else { return false }
        append(Int32(8))
        append(value.bitPattern)
        return true
    }

    @inline(__always)
    private static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
        guard !digits.isEmpty, digits.count <= 19 else { return nil }
        var magnitude: UInt64 = 0  // nineteen digits always fit
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            magnitude = magnitude &* 10 &+ UInt64(digit)
        }
        if isNegative {
            return magnitude <= Int64.min.magnitude ? 0 &- Int64(truncatingIfNeeded: magnitude) : nil
        }
        return Int64(exactly: magnitude)
    }

    /// Parses a number of at most 15 digits without an exponent.
    ///
    /// Its digits, and the power of ten that divides them, are exact doubles, so a single division rounds correctly.
    @inline(__always)
    private static func shortDouble(_ text: UnsafeRawBufferPointer) -> Double? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
        guard digits.count <= 16 else { return nil }
        var mantissa: UInt64 = 0
        var divisor = 1.0
        var hasPoint = false
        var digitCount = 0
        for byte in digits {
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            digitCount += 1
            mantissa = mantissa &* 10 &+ UInt64(digit)
            if hasPoint { divisor *= 10 }
        }
        guard digitCount > 0, digitCount <= 15 else { return nil }
        let value = Double(mantissa) / divisor
        return isNegative ? -value : value
    }

    private static func anyDouble(_ text: UnsafeRawBufferPointer) -> Double? {
        // Accept only JSON numbers: Swift also parses "nan", "inf" and hexadecimal digits.
        let isPlain = text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isPlain, let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// Appends a `numeric` field with exactly the digits of a decimal, including trailing zeros after the decimal point.
    ///
    /// A binary `numeric` consists of digits of base 10,000, the weight of the first one, a sign, and the number of decimal
    /// digits to show after the decimal point. Returns false if the text is not a decimal, or too long for the server.
    mutating func appendNumeric(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let decimal = DecimalText(text) else { return false }
        let field = beginField()
        append(Int64(0))  // four 16-bit words, written at the end
        var groups = 0
        var weight = 0
        var pendingZeros = 0
        for group in decimal.groups.reversed() {
            let value = decimal.value(ofGroup: group)
            guard value != 0 else {
                if groups > 0 { pendingZeros += 1 }
                continue
            }
            if groups == 0 { weight = group }
            for _ in 0..<pendingZeros { append(0 as Int16) }
            append(value)
            groups += pendingZeros + 1
            pendingZeros = 0
        }
        overwrite(Int16(truncatingIfNeeded: groups), at: field)
        overwrite(Int16(truncatingIfNeeded: weight), at: field + 2)
        overwrite(decimal.isNegative && groups > 0 ? 0x4000 as Int16 : 0, at: field + 4)
        overwrite(Int16(truncatingIfNeeded: decimal.scale), at: field + 6)
        endField(from: field)
        return true
    }
}
