/// The Gregorian calendar by counting days: a table of the first day of every year, and the lengths of the months.
package enum ReferenceCalendar {
    package static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && year % 100 != 0 || year % 400 == 0 }

    package static func monthLengths(of year: Int) -> [Int] {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    }

    /// Days from 1970-01-01 to the first day of each year from 0000 to 10000.
    package static let firstDays: [Int] = {
        var days = [0]
        for year in 0..<10_000 { days.append(days[year] + (isLeap(year) ? 366 : 365)) }
        return days.map { $0 - days[1970] }
    }()

    package static func day(year: Int, month: Int, day: Int) -> Int {
        firstDays[year] + monthLengths(of: year).prefix(month - 1).reduce(0, +) + day - 1
    }

    package static func date(ofDay day: Int) -> String {
        // A year near the right one, and then forward.
        var year = max(0, 1968 + day * 400 / 146_097)
        while firstDays[year + 1] <= day { year += 1 }
        var (month, rest) = (1, day - firstDays[year])
        for length in monthLengths(of: year) {
            if rest < length { break }
            rest -= length
            month += 1
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(rest + 1, 2))"
    }

    package static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// The day of a `full-date`; `nil` for other text and for days that do not exist.
    package static func day(of text: String) -> Int? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard
            parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2],
            let year = number(parts[0]), let month = number(parts[1]), let day = number(parts[2]),
            (1...12).contains(month), day >= 1, day <= monthLengths(of: year)[month - 1]
        else { return nil }
        // RFC 3339 has the year 0000, but PostgreSQL and many languages do not.
        guard year > 0 else { return nil }
        return Self.day(year: year, month: month, day: day)
    }

    package static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
