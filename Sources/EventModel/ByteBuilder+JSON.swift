/// What a string holds that not every reader of JSON can take.
package struct TextProblems: OptionSet, Sendable {
    /// The bits.
    package let rawValue: UInt8

    /// Takes the bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A NUL character, which PostgreSQL's text cannot hold.
    package static let nul = TextProblems(rawValue: 1)
    /// Half of a surrogate pair, which is no Unicode text.
    package static let loneSurrogate = TextProblems(rawValue: 2)
}

extension ByteBuilder {
    /// Appends a JSON string: quotes, and as few escapes as RFC 8259 allows, in their shortest form.
    ///
    /// - Parameter text: UTF-8 with `padding` more readable bytes behind it, as the tape's strings have.
    /// - Returns: What the text holds that some readers cannot take; it was appended all the same.
    @inlinable
    @inline(__always)
    package mutating func appendString(_ text: UnsafeRawBufferPointer) -> TextProblems {
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
                // Bytes beyond the text must not count.
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

    /// Appends a JSON string: quotes, and as few escapes as RFC 8259 allows, in their shortest form.
    ///
    /// - Parameter text: UTF-8; nothing behind it is read.
    /// - Returns: What the text holds that some readers cannot take; it was appended all the same.
    @inlinable
    @inline(__always)
    package mutating func appendUnpaddedString(_ text: UnsafeRawBufferPointer) -> TextProblems {
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

    /// Copies bytes, and says whether there may be a control character, `"` or `\` among them.
    ///
    /// In words, of which the last one overlaps the one before it. Looking at the copy would wait for its bytes to arrive.
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

    /// The same for less than a word.
    @inlinable
    @inline(__always)
    static func copyShort(_ source: UnsafeRawPointer, _ length: Int, to target: UnsafeMutableRawPointer) -> Bool {
        // Spaces stand for bytes that are not there.
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

    /// Sets the top bit of each byte that is a control character, `"` or `\`; perhaps of one above such a byte.
    @inlinable
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return ((word &- ones &* 0x20) & ~word) | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
    }

    /// Appends a JSON string that needs no escape, nor can hold half of a surrogate pair.
    ///
    /// - Parameter text: UTF-8 with `padding` more readable bytes behind it, as the tape's strings have.
    @inlinable
    @inline(__always)
    package mutating func appendPlainString(_ text: UnsafeRawBufferPointer) {
        let length = text.count
        reserve(length &+ 34)
        let output = UnsafeMutableRawPointer(end)
        output.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        if let source = text.baseAddress { Self.copyPadded(source, length, to: output + 1) }
        output.storeBytes(of: UInt8(ascii: "\""), toByteOffset: length + 1, as: UInt8.self)
        count &+= length &+ 2
    }

    /// Sets the top bit of each byte that is a control character, `"`, `\`, or 0xED, with which surrogates begin.
    ///
    /// A byte above such a byte may be marked falsely, never one missed: marked text only takes the slower way.
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
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 0x08: append("\\b")
            case 0x09: append("\\t")
            case 0x0A: append("\\n")
            case 0x0C: append("\\f")
            case 0x0D: append("\\r")
            case 0..<0x20:
                if byte == 0 { problems.insert(.nul) }
                append("\\u00")
                append(byte >> 4 + UInt8(ascii: "0"))
                let digit = byte & 0xF
                append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            default:
                if byte == 0xED, position + 1 < text.count, text[position + 1] >= 0xA0 {
                    problems.insert(.loneSurrogate)
                }
                append(byte)
            }
        }
        append(UInt8(ascii: "\""))
        return problems
    }

    /// Appends a JSON string of what `write` writes and counts: at most `length` bytes, none of which needs an escape.
    @inlinable
    @inline(__always)
    package mutating func appendQuoted(atMost length: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(length &+ 2)
        append(UInt8(ascii: "\""))
        count &+= write(end)
        append(UInt8(ascii: "\""))
    }

    /// Appends a whole number.
    @inlinable
    package mutating func append(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        append(value.magnitude)
    }

    /// Appends a whole number.
    @inlinable
    package mutating func append(_ value: UInt64) {
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

    /// Appends a finite number in the shortest form that reads back as an equal double; `6.0` is `6`, and `-0.0` is `0`.
    package mutating func append(_ value: Double) {
        // With at most 15 digits a decimal is the only one of its length that reads back as this double, and dividing
        // whole numbers by a power of ten up to 10^22 rounds correctly: so the decimal that gives the value back,
        // without its trailing zeros, is the shortest. Two places are what money has, six what most else has.
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

    /// The whole number that, divided by `scale`, is this value; `nil` where there is none of at most 15 digits.
    @inline(__always)
    private static func digits(of value: Double, scale: Double) -> UInt64? {
        let scaled = value * scale + 0.5
        guard scaled < 1e15 else { return nil }
        let digits = UInt64(scaled)
        return Double(digits) / scale == value ? digits : nil
    }

    /// Appends `digits / scale`, without zeros at the end; `scale` is a constant, by which division is cheap.
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
