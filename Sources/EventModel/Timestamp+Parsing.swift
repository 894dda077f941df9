extension Timestamp {
    /// Reads an RFC 3339 `date-time`; anything else is `nil`.
    ///
    /// Digits beyond the microsecond are cut off. A leap second (`23:59:60` in UTC) is taken as the second that
    /// follows it, as PostgreSQL takes it. A moment that an offset moves out of the years 0000 to 9999 is refused.
    public init?(text: UnsafeRawBufferPointer) {
        guard
            text.count >= 20,
            let date = CalendarDate(text: UnsafeRawBufferPointer(rebasing: text[..<10])),
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

        let seconds = Int64(hour * 3600 + minute * 60 + second - offsetInMinutes * 60)
        let total = (Int64(date.daysSince1970) * 86_400 + seconds) * 1_000_000
        if second == 60 {
            // A leap second ends a day in UTC, so the second after it must be a midnight.
            guard total % 86_400_000_000 == 0 else { return nil }
        }
        let microseconds = total + Int64(fraction.microseconds)
        guard (Self.earliestMicroseconds...Self.latestMicroseconds).contains(microseconds) else { return nil }
        self.init(microseconds: microseconds, fractionDigits: fraction.digits)
    }

    /// Reads an RFC 3339 `date-time`; anything else is `nil`.
    public init?(_ text: String) {
        var text = text
        guard let time = text.withUTF8({ Timestamp(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = time
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
