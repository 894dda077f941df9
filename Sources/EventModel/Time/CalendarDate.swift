/// A day of the proleptic Gregorian calendar, in the years 0001 to 9999; it has no time zone.
///
/// RFC 3339 also has the year 0000, which PostgreSQL and the date types of many languages do not have.
public struct CalendarDate: Sendable, Hashable {
    /// Days since 1970-01-01.
    public let daysSince1970: Int32

    /// The number of bytes that `write(to:)` writes: `2010-12-01`.
    public static var textLength: Int { @inlinable get { 10 } }

    /// Creates a date from a number of days, clamped to the years 0001 to 9999.
    public init(daysSince1970: Int32) {
        self.daysSince1970 = min(max(daysSince1970, -719_162), 2_932_896)
    }

    /// Reads an RFC 3339 `full-date`; `nil` for anything else, for a day that the month does not have, and for the year 0000.
    public init?(text: UnsafeRawBufferPointer) {
        guard
            text.count == Self.textLength,
            let century = Digits.readTwo(text, at: 0),
            let yearOfCentury = Digits.readTwo(text, at: 2),
            text[4] == UInt8(ascii: "-"),
            let month = Digits.readTwo(text, at: 5), (1...12).contains(month),
            text[7] == UInt8(ascii: "-"),
            let day = Digits.readTwo(text, at: 8), day >= 1
        else { return nil }
        let year = century * 100 + yearOfCentury
        guard year > 0, day <= Self.daysInMonth(month, of: year) else { return nil }
        daysSince1970 = Int32(Self.days(year: year, month: month, day: day))
    }

    /// Reads an RFC 3339 `full-date`; `nil` for anything else, for a day that the month does not have, and for the year 0000.
    public init?(_ text: String) {
        var text = text
        guard let date = text.withUTF8({ CalendarDate(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = date
    }

    /// Writes the RFC 3339 `full-date` to memory with room for `textLength` bytes, and returns that number.
    public func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let (year, month, day) = civil
        Digits.writeTwo(year / 100, to: bytes)
        Digits.writeTwo(year % 100, to: bytes + 2)
        bytes[4] = UInt8(ascii: "-")
        Digits.writeTwo(month, to: bytes + 5)
        bytes[7] = UInt8(ascii: "-")
        Digits.writeTwo(day, to: bytes + 8)
        return Self.textLength
    }

    /// The first day of its month.
    package var firstOfMonth: CalendarDate { CalendarDate(daysSince1970: daysSince1970 - Int32(civil.day) + 1) }

    /// The first day of the next month; in the last month of the year 9999, its last day.
    package var firstOfNextMonth: CalendarDate {
        let (year, month, _) = civil
        let days = Self.daysInMonth(Int(month), of: Int(year))
        return CalendarDate(daysSince1970: firstOfMonth.daysSince1970 + Int32(days))
    }

    private static func daysInMonth(_ month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Howard Hinnant's "chrono-compatible low-level date algorithms": years begin in March, so that the leap day is the last
    // day of its year, and 400 years have 146,097 days.

    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private var civil: (year: UInt64, month: UInt64, day: UInt64) {
        let shifted = Int(daysSince1970) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        // The initialisers keep the year within 0001 to 9999, so none of the three is negative.
        return (UInt64(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), UInt64(month), UInt64(day))
    }
}

extension CalendarDate: CustomStringConvertible {
    /// The RFC 3339 `full-date`.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) { bytes in
            bytes.baseAddress.map { write(to: $0) } ?? 0
        }
    }
}
