/// Reads timestamps, remembering the last one's date: events that come together mostly share their day.
public struct TimestampReader: Sendable {
    /// The date's ten bytes as they were read, eight and two; at first `1970-01-` and `01`.
    private var dateText: (UInt64, UInt16) = (0x2D31_302D_3037_3931, 0x3130)
    private var midnight: Int64 = 0

    /// Makes a reader.
    public init() {}

    /// Reads an RFC 3339 `date-time`; anything else is `nil`.
    ///
    /// Digits beyond the microsecond are cut off. A leap second (`23:59:60` in UTC) is taken as the second that
    /// follows it, as PostgreSQL takes it. A moment that an offset moves out of the years 0000 to 9999 is refused.
    @inline(__always)
    public mutating func read(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        guard text.count >= 20, let start = text.baseAddress, readDate(start) else { return nil }
        let seconds = Self.seconds(of: start.loadUnaligned(fromByteOffset: 11, as: UInt64.self))
        guard seconds >= 0, text.count == 20, text[10] == UInt8(ascii: "T"), text[19] == UInt8(ascii: "Z") else {
            return readRest(text)
        }
        return Timestamp(microseconds: midnight &+ seconds &* 1_000_000, fractionDigits: 0)
    }

    /// Finds the midnight that began the day; says no where the ten bytes are no `full-date`.
    @inline(__always)
    private mutating func readDate(_ start: UnsafeRawPointer) -> Bool {
        let text = (start.loadUnaligned(as: UInt64.self), start.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
        return text == dateText || remember(text, start)
    }

    @inline(never)
    private mutating func remember(_ text: (UInt64, UInt16), _ start: UnsafeRawPointer) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: start, count: CalendarDate.textLength)
        guard let date = CalendarDate(text: bytes) else { return false }
        dateText = text
        midnight = Int64(date.daysSince1970) * 86_400_000_000
        return true
    }

    /// The seconds that `hh:mm:ss` says, its eight bytes in one word; -1 where they say something else, or second 60.
    @inline(__always)
    private static func seconds(of text: UInt64) -> Int64 {
        // Each digit becomes its value, each colon 0; the sum's top bits show which byte is more.
        let digits = UInt64(littleEndian: text) ^ 0x3030_3A30_303A_3030
        guard (digits | (digits &+ 0x7676_7F76_767F_7676)) & 0x8080_8080_8080_8080 == 0 else { return -1 }
        @inline(__always) func two(_ shift: UInt64) -> UInt64 {
            (digits &>> shift & 0xF) &* 10 &+ (digits &>> (shift &+ 8) & 0xF)
        }
        let (hour, minute, second) = (two(0), two(24), two(48))
        guard hour < 24, minute < 60, second < 60 else { return -1 }
        return Int64(truncatingIfNeeded: hour &* 3600 &+ minute &* 60 &+ second)
    }

    /// Reads what is not of the shortest form, its date already being read.
    private func readRest(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        guard
            text[10] | 0x20 == UInt8(ascii: "t"),
            let hour = Digits.readTwo(text, at: 11), hour < 24,
            text[13] == UInt8(ascii: ":"),
            let minute = Digits.readTwo(text, at: 14), minute < 60,
            text[16] == UInt8(ascii: ":"),
            let second = Digits.readTwo(text, at: 17), second <= 60
        else { return nil }

        var position = 19
        guard let fraction = Self.readFraction(text, at: &position) else { return nil }
        guard let offsetInMinutes = Self.readOffset(text, at: position) else { return nil }

        let total = midnight + Int64(hour * 3600 + minute * 60 + second - offsetInMinutes * 60) * 1_000_000
        if second == 60 {
            // A leap second ends a day in UTC, so the second after it must be a midnight.
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
        guard text[position] == UInt8(ascii: ".") else { return (0, 0) }
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
            guard
                position + 6 == text.count,
                let hours = Digits.readTwo(text, at: position + 1), hours < 24,
                text[position + 3] == UInt8(ascii: ":"),
                let minutes = Digits.readTwo(text, at: position + 4), minutes < 60
            else { return nil }
            let offset = hours * 60 + minutes
            return text[position] == UInt8(ascii: "-") ? -offset : offset
        default:
            return nil
        }
    }
}
