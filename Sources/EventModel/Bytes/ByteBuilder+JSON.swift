/// What a string contains that not every reader of JSON accepts.
@_spi(CanonicalJSON)
public struct TextProblems: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A NUL character, which PostgreSQL's type `text` cannot store.
    public static let nul = TextProblems(rawValue: 1)
    /// Half of a surrogate pair, which is not valid Unicode.
    public static let loneSurrogate = TextProblems(rawValue: 2)
}

@_spi(CanonicalJSON)
extension ByteBuilder {
    /// Appends a JSON string with its quotation marks, and with as few escapes as RFC 8259 allows, in their shortest form.
    ///
    /// - Parameter text: UTF-8, with `padding` more readable bytes after it, as strings on the tape have.
    /// - Returns: What the text contains that some readers do not accept; it is appended nevertheless.
    @inlinable
    @inline(__always)
    public mutating func appendString(_ text: UnsafeRawBufferPointer) -> TextProblems {
        let length = text.count
        reserve(length + 18)
        var output = UnsafeMutableRawPointer(end)
        output.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        output += 1
        var position = 0
        if let source = text.baseAddress {
            while position < length {
                let word = (source + position).loadUnaligned(as: UInt64.self)
                let remaining = length - position
                // Bytes after the end of the text must not count.
                let relevant: UInt64 = remaining >= 8 ? .max : (1 << UInt64(remaining * 8)) - 1
                if Self.needsCare(word) & relevant & 0x8080_8080_8080_8080 != 0 {
                    return appendCarefully(text, from: position)
                }
                output.storeBytes(of: word, as: UInt64.self)
                let step = min(8, remaining)
                output += step
                position += step
            }
        }
        output.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        count += length + 2
        return []
    }

    /// Appends a JSON string with its quotation marks, and with as few escapes as RFC 8259 allows, in their shortest form.
    ///
    /// - Parameter text: UTF-8; no byte after it is read.
    /// - Returns: What the text contains that some readers do not accept; it is appended nevertheless.
    @inlinable
    @inline(__always)
    public mutating func appendUnpaddedString(_ text: UnsafeRawBufferPointer) -> TextProblems {
        let length = text.count
        reserve(length &+ 2)
        let output = UnsafeMutableRawPointer(end)
        if let source = text.baseAddress, Self.copyLookingForEscapes(source, length, to: output + 1) {
            return appendCarefully(text, from: 0)
        }
        output.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        output.storeBytes(of: UInt8(ascii: "\""), toByteOffset: length &+ 1, as: UInt8.self)
        count &+= length &+ 2
        return []
    }

    /// Copies bytes, and returns whether they may contain a control character, `"` or `\`.
    ///
    /// It works in words; the last one may overlap the one before. It tests the source, because reading the copy would
    /// wait for the writes.
    @inlinable
    @inline(__always)
    static func copyLookingForEscapes(
        _ source: UnsafeRawPointer,
        _ length: Int,
        to target: UnsafeMutableRawPointer
    ) -> Bool {
        guard length >= 8 else { return copyShort(source, length, to: target) }
        var found: UInt64 = 0
        var position = 0
        let last = length &- 8
        while position < last {
            let word = (source + position).loadUnaligned(as: UInt64.self)
            found |= special(word)
            target.storeBytes(of: word, toByteOffset: position, as: UInt64.self)
            position &+= 8
        }
        let word = (source + last).loadUnaligned(as: UInt64.self)
        target.storeBytes(of: word, toByteOffset: last, as: UInt64.self)
        return (found | special(word)) & 0x8080_8080_8080_8080 != 0
    }

    /// Does the same for less than a word.
    @inlinable
    @inline(__always)
    static func copyShort(_ source: UnsafeRawPointer, _ length: Int, to target: UnsafeMutableRawPointer) -> Bool {
        // Missing bytes are filled with spaces.
        var word: UInt64 = 0x2020_2020_2020_2020
        if length >= 4 {
            let first = source.loadUnaligned(as: UInt32.self)
            let second = (source + (length &- 4)).loadUnaligned(as: UInt32.self)
            target.storeBytes(of: first, as: UInt32.self)
            target.storeBytes(of: second, toByteOffset: length &- 4, as: UInt32.self)
            word = UInt64(first) | UInt64(second) &<< 32
        } else {
            for position in 0..<length {
                let byte = source.load(fromByteOffset: position, as: UInt8.self)
                target.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
                word = word &<< 8 | UInt64(byte)
            }
        }
        return special(word) & 0x8080_8080_8080_8080 != 0
    }

    /// Sets the top bit of each byte that is a control character, `"` or `\`; a byte above one may be marked falsely.
    @inlinable
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return ((word &- ones &* 0x20) & ~word) | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
    }

    /// Appends a JSON string that needs no escape and has no half of a surrogate pair.
    ///
    /// - Parameter text: UTF-8, with `padding` more readable bytes after it, as strings on the tape have.
    @inlinable
    @inline(__always)
    public mutating func appendPlainString(_ text: UnsafeRawBufferPointer) {
        let length = text.count
        reserve(length &+ 34)
        let output = UnsafeMutableRawPointer(end)
        output.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        if let source = text.baseAddress { Self.copyPadded(source, length, to: output + 1) }
        output.storeBytes(of: UInt8(ascii: "\""), toByteOffset: length + 1, as: UInt8.self)
        count &+= length &+ 2
    }

    /// Sets the top bit of each byte that is a control character, `"`, `\`, or 0xED, the first byte of a surrogate.
    ///
    /// A byte above one may be marked falsely, but none is missed; marked text only takes the slower path.
    @inlinable
    @inline(__always)
    static func needsCare(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        @inline(__always) func zeroes(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let control = (word &- ones &* 0x20) & ~word
        let quote = zeroes(word ^ ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = zeroes(word ^ ones &* UInt64(UInt8(ascii: "\\")))
        let surrogate = zeroes(word ^ ones &* 0xED)
        return control | quote | backslash | surrogate
    }

    @usableFromInline
    @inline(never)
    mutating func appendCarefully(_ text: UnsafeRawBufferPointer, from safe: Int) -> TextProblems {
        var problems: TextProblems = []
        append(UInt8(ascii: "\""))
        append(UnsafeRawBufferPointer(rebasing: text[..<safe]))
        for position in safe..<text.count {
            let byte = text[position]
            // The canonical form has as few escapes as possible, and JSON does not require one for DEL.
            if byte != 0x7F, let escape = JSONString.Escape(byte) {
                if byte == 0 { problems.insert(.nul) }
                reserve(8)
                UnsafeMutableRawPointer(end).storeBytes(of: escape.text.littleEndian, as: UInt64.self)
                count += escape.count
            } else {
                if byte == 0xED, position + 1 < text.count, text[position + 1] >= 0xA0 {
                    problems.insert(.loneSurrogate)
                }
                append(byte)
            }
        }
        append(UInt8(ascii: "\""))
        return problems
    }

    /// Appends a JSON string that `write` writes: it returns the number of bytes, at most `length`, none of them an escape.
    @inlinable
    @inline(__always)
    mutating func appendQuoted(atMost length: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(length &+ 2)
        append(UInt8(ascii: "\""))
        count &+= write(end)
        append(UInt8(ascii: "\""))
    }

    /// Completes an object whose members were appended from `start` on, each with a comma before it.
    ///
    /// The opening brace replaces the first comma.
    @inlinable
    @inline(__always)
    public mutating func closeObject(from start: Int) {
        if count == start {
            append("{}")
        } else {
            replaceByte(at: start, with: UInt8(ascii: "{"))
            append(UInt8(ascii: "}"))
        }
    }

    /// Appends a timestamp as a JSON string.
    @inlinable
    public mutating func appendQuoted(_ time: Timestamp) {
        appendQuoted(atMost: Timestamp.maximumTextLength) { time.write(to: $0) }
    }

    /// Appends a date as a JSON string.
    @inlinable
    public mutating func appendQuoted(_ date: CalendarDate) {
        appendQuoted(atMost: CalendarDate.textLength) { date.write(to: $0) }
    }

    /// Appends a UUID as a JSON string.
    @inlinable
    public mutating func appendQuoted(_ id: EventID) {
        appendQuoted(atMost: EventID.textLength) { bytes in
            id.write(to: bytes)
            return EventID.textLength
        }
    }

    /// Appends a decimal as a JSON string: the form in which every reader keeps all its digits.
    @inlinable
    public mutating func appendQuoted(_ value: ExactDecimal) {
        appendQuoted(atMost: value.textLength) { value.write(to: $0) }
    }

    /// Appends a whole number.
    @inlinable
    public mutating func append(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        append(value.magnitude)
    }

    /// Appends a whole number.
    @inlinable
    public mutating func append(_ value: UInt64) {
        reserve(20)
        if value < 10 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
            return
        }
        var digits = 1
        var rest = value / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        rest = value
        var position = digits
        while position > 0 {
            position -= 1
            end[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Appends a finite number in the shortest form that reads back as the same double; `6.0` is `6`, and `-0.0` is `0`.
    public mutating func append(_ value: Double) {
        // A decimal of at most 15 digits is the only one of its length that reads back as this double, and division of whole
        // numbers by a power of ten up to 10^22 rounds correctly. So the decimal that divides to the value is the shortest,
        // once its trailing zeros are removed. Money has two decimal places, and most other numbers at most six.
        if value < 0 { append(UInt8(ascii: "-")) }
        if let digits = Self.digits(of: value.magnitude, scale: 1e2) {
            appendFixed(digits, scale: 100)
        } else if let digits = Self.digits(of: value.magnitude, scale: 1e6) {
            appendFixed(digits, scale: 1_000_000)
        } else {
            var text = value.magnitude.description
            if text.hasSuffix(".0") { text.removeLast(2) }
            text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        }
    }

    /// The whole number of at most 15 digits that gives this value when divided by `scale`; `nil` if there is none.
    @inline(__always)
    private static func digits(of value: Double, scale: Double) -> UInt64? {
        let scaled = value * scale + 0.5
        guard scaled < 1e15 else { return nil }
        let digits = UInt64(scaled)
        return Double(digits) / scale == value ? digits : nil
    }

    /// Appends `digits / scale` without trailing zeros; `scale` is a constant, so the division is cheap.
    @inline(__always)
    private mutating func appendFixed(_ digits: UInt64, scale: UInt64) {
        append(digits / scale)
        var fraction = digits % scale
        guard fraction > 0 else { return }
        append(UInt8(ascii: "."))
        while fraction > 0 {
            fraction *= 10
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / scale))
            fraction %= scale
        }
    }
}
