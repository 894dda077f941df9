/// Reads timestamps, and caches the last date: events that arrive together are mostly of the same day.
@_spi(CanonicalJSON)
public struct TimestampReader: Sendable {
    /// The ten bytes of the last date, eight and two; initially `1970-01-` and `01`.
    @usableFromInline var dateText: (UInt64, UInt16) = (0x2D31_302D_3037_3931, 0x3130)
    /// The start of the last date, in microseconds since 1970.
    @usableFromInline var midnight: Int64 = 0

    /// Creates a reader.
    @inlinable
    public init() {}

    /// Reads an RFC 3339 `date-time`, as `Timestamp.init(text:)` does; `nil` for anything else.
    @inlinable
    @inline(__always)
    public mutating func read(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        guard text.count >= 20, let start = text.baseAddress, readDate(start) else { return nil }
        let seconds = Self.seconds(of: start.loadUnaligned(fromByteOffset: 11, as: UInt64.self))
        guard seconds >= 0, text.count == 20, text[10] == UInt8(ascii: "T"), text[19] == UInt8(ascii: "Z") else {
            return readRest(text)
        }
        return Timestamp(microseconds: midnight &+ seconds &* 1_000_000, fractionDigits: 0)
    }

    /// Reads the date into `midnight`; false if the ten bytes are not a `full-date`.
    @inlinable
    @inline(__always)
    mutating func readDate(_ start: UnsafeRawPointer) -> Bool {
        let text = (start.loadUnaligned(as: UInt64.self), start.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
        return text == dateText || remember(text, start)
    }

    @usableFromInline
    @inline(never)
    mutating func remember(_ text: (UInt64, UInt16), _ start: UnsafeRawPointer) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: start, count: CalendarDate.textLength)
        guard let date = CalendarDate(text: bytes) else { return false }
        dateText = text
        midnight = Int64(date.daysSince1970) * 86_400_000_000
        return true
    }

    /// The seconds of `hh:mm:ss`, its eight bytes in one word; -1 if it is not a time, or has the second 60.
    @inlinable
    @inline(__always)
    static func seconds(of text: UInt64) -> Int64 {
        // Each digit becomes its value, and each colon 0. The top bits of the sum show bytes that are out of range.
        let digits = UInt64(littleEndian: text) ^ 0x3030_3A30_303A_3030
        guard (digits | (digits &+ 0x7676_7F76_767F_7676)) & 0x8080_8080_8080_8080 == 0 else { return -1 }
        @inline(__always) func two(_ shift: UInt64) -> UInt64 {
            (digits &>> shift & 0xF) &* 10 &+ (digits &>> (shift &+ 8) & 0xF)
        }
        let (hour, minute, second) = (two(0), two(24), two(48))
        guard hour < 24, minute < 60, second < 60 else { return -1 }
        return Int64(truncatingIfNeeded: hour &* 3600 &+ minute &* 60 &+ second)
    }

    /// Reads a time in one of the forms that a format of events accepts; `nil` for anything else.
    package mutating func read(_ text: UnsafeRawBufferPointer, accepting forms: TimeForms) -> Timestamp? {
        if let time = read(text) { return time }
        guard !forms.isEmpty, text.count >= CalendarDate.textLength, let start = text.baseAddress, readDate(start)
        else {
            return nil
        }
        guard text.count > CalendarDate.textLength else {
            return forms.contains(.dateOnly) ? Timestamp(microseconds: midnight, fractionDigits: 0) : nil
        }
        return text.count >= 19 ? readRest(text, accepting: forms) : nil
    }

    /// Reads any form but the shortest, after its date was read.
    @usableFromInline
    func readRest(_ text: UnsafeRawBufferPointer) -> Timestamp? { readRest(text, accepting: .own) }

    private func readRest(_ text: UnsafeRawBufferPointer, accepting forms: TimeForms) -> Timestamp? {
        let separator = text[10]
        guard
            separator | 0x20 == UInt8(ascii: "t") || forms.contains(.space) && separator == UInt8(ascii: " "),
            let hour = Digits.readTwo(text, at: 11), hour < 24,
            text[13] == UInt8(ascii: ":"),
            let minute = Digits.readTwo(text, at: 14), minute < 60,
            text[16] == UInt8(ascii: ":"),
            let second = Digits.readTwo(text, at: 17), second <= 60
        else { return nil }

        var position = 19
        guard let fraction = Self.readFraction(text, at: &position) else { return nil }
        let isUTC = position == text.count && forms.contains(.withoutZone)
        guard let offsetInMinutes = isUTC ? 0 : Self.readOffset(text, at: position) else { return nil }

        let total = midnight + Int64(hour * 3600 + minute * 60 + second - offsetInMinutes * 60) * 1_000_000
        if second == 60 {
            // A leap second is the last of a day in UTC, so the second after it must be a midnight.
            guard total % 86_400_000_000 == 0 else { return nil }
        }
        let microseconds = total + Int64(fraction.microseconds)
        guard (Timestamp.earliestMicroseconds...Timestamp.latestMicroseconds).contains(microseconds) else { return nil }
        return Timestamp(microseconds: microseconds, fractionDigits: fraction.digits)
    }

    private static func readFraction(
        _ text: UnsafeRawBufferPointer,
        at position: inout Int
    ) -> (microseconds: Int, digits: UInt8)? {
        guard position < text.count, text[position] == UInt8(ascii: ".") else { return (0, 0) }
        position += 1
        var microseconds = 0
        var unit = 100_000
        var digits = 0
        while position < text.count, let digit = Digits.value(of: text[position]) {
            microseconds += digit * unit
            unit /= 10
            digits += 1
            position += 1
        }
        return digits == 0 ? nil : (microseconds, UInt8(min(digits, 6)))
    }

    private static func readOffset(_ text: UnsafeRawBufferPointer, at position: Int) -> Int? {
        guard position < text.count else { return nil }
        switch text[position] {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"):
            return position + 1 == text.count ? 0 : nil
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard text.count - position >= 3, let hours = Digits.readTwo(text, at: position + 1), hours < 24,
                let minutes = readMinutes(text, at: position + 3)
            else { return nil }
            let offset = hours * 60 + minutes
            return text[position] == UInt8(ascii: "-") ? -offset : offset
        default:
            return nil
        }
    }

    /// The minutes at the end of an offset: `:30`, `30`, or none.
    private static func readMinutes(_ text: UnsafeRawBufferPointer, at position: Int) -> Int? {
        let rest = text.count - position
        if rest == 0 { return 0 }
        guard rest == 2 || rest == 3 && text[position] == UInt8(ascii: ":"),
            let minutes = Digits.readTwo(text, at: text.count - 2), minutes < 60
        else { return nil }
        return minutes
    }
}
