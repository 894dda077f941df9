/// A simple reader of RFC 3339.
package struct ReferenceTime {
    package let seconds: Int
    /// The fraction, with at most six digits.
    package let fraction: String

    /// Reads a `date-time`; `nil` for other text, and outside the years 0001 to 9999 in UTC.
    package init?(_ text: String) {
        guard text.utf8.count == text.count, text.count >= 20 else { return nil }
        let characters = Array(text)
        guard let day = ReferenceCalendar.day(of: String(characters[..<10])), "Tt".contains(characters[10]) else {
            return nil
        }
        let clock = String(characters[11..<19]).split(separator: ":", omittingEmptySubsequences: false)
        guard
            clock.count == 3, clock.map(\.utf8.count) == [2, 2, 2],
            let hour = ReferenceCalendar.number(clock[0]), hour <= 23,
            let minute = ReferenceCalendar.number(clock[1]), minute <= 59,
            let second = ReferenceCalendar.number(clock[2]), second <= 60
        else { return nil }
        var rest = String(characters[19...])
        var fraction = ""
        if rest.first == "." {
            fraction = String(rest.dropFirst().prefix { ("0"..."9").contains($0) })
            guard !fraction.isEmpty else { return nil }
            rest = String(rest.dropFirst(fraction.count + 1))
        }
        guard let offset = Self.offsetInMinutes(rest) else { return nil }
        seconds = day * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        // A leap second is at the end of a day in UTC, and counts as the following second.
        if second == 60, seconds % 86_400 != 0 { return nil }
        self.fraction = String(fraction.prefix(6))
        let range = ReferenceCalendar.firstDays[1] * 86_400..<ReferenceCalendar.firstDays[10_000] * 86_400
        guard range.contains(seconds) else { return nil }
    }

    private static func offsetInMinutes(_ text: String) -> Int? {
        if text == "Z" || text == "z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        // +hh:mm, +hhmm or +hh.
        let digits = text.dropFirst()
        let minutesText = digits.dropFirst(2).first == ":" ? digits.dropFirst(3) : digits.dropFirst(2)
        guard
            [2, 4, 5].contains(digits.utf8.count), (digits.utf8.count == 5) == (digits.dropFirst(2).first == ":"),
            let hours = ReferenceCalendar.number(digits.prefix(2)), hours <= 23,
            let minutes = minutesText.isEmpty ? 0 : ReferenceCalendar.number(minutesText), minutes <= 59
        else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
    }

    package var microseconds: Int {
        seconds * 1_000_000 + (Int(fraction + String(repeating: "0", count: 6 - fraction.count)) ?? 0)
    }

    /// The time in UTC, with the digits of the fraction.
    package var text: String {
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let time = seconds - day * 86_400
        let clock = [time / 3600, time / 60 % 60, time % 60].map { ReferenceCalendar.padded($0, 2) }
        return ReferenceCalendar.date(ofDay: day) + "T" + clock.joined(separator: ":")
            + (fraction.isEmpty ? "" : "." + fraction) + "Z"
    }
}
