/// Random dates and times, at the limits of the calendar and beyond them.
package enum GeneratedTime {
    package static func date(_ source: inout CaseSource) -> String {
        if source.once(in: 12) {
            return source.pick([
                "", "2020-1-01", "2020-13-01", "2020-00-10", "2020-01-00", "2021-02-29", "1900-02-29", "+020-01-01",
                "2020/01/01", "12020-01-01",
            ])
        }
        let year = source.pick([0, 1, 4, 1900, 1970, 2000, 2010, 2024, 9999, source.number(0...9999)])
        let month = source.number(1...12)
        let day = source.once(in: 4) ? source.number(28...31) : source.number(1...28)
        return ReferenceCalendar.padded(year, 4) + "-" + ReferenceCalendar.padded(month, 2) + "-"
            + ReferenceCalendar.padded(day, 2)
    }

    package static func timestamp(_ source: inout CaseSource) -> String {
        if source.once(in: 15) {
            return source.pick([
                "", "2020-01-01", "2020-01-01T00:00:00", "2020-01-01 00:00:00Z", "2020-01-01T24:00:00Z",
                "2020-01-01T00:60:00Z", "2020-01-01T00:00:61Z", "2020-01-01T00:00:00.Z", "2020-01-01T00:00:00+24:00",
                "2020-01-01T00:00:00+00:60", "2020-01-01T00:00:00+000", "2020-01-01T00:00:00+0:00",
                "2020-01-01T00:00:00+00:", "2020-01-01T00:00:00Zz",
                "2020-01-01T00:00:00,5Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
                "9999-12-31T23:59:60Z", "2020-01-01T00:00:60Z",
            ])
        }
        return date(&source) + source.pick(["T", "t"]) + clock(&source) + fraction(&source) + offset(&source)
    }

    private static func clock(_ source: inout CaseSource) -> String {
        if source.once(in: 6) { return source.pick(["00:00:00", "23:59:59", "23:59:60", "00:59:60", "01:59:60"]) }
        return [source.number(0...23), source.number(0...59), source.number(0...59)]
            .map { ReferenceCalendar.padded($0, 2) }.joined(separator: ":")
    }

    private static func fraction(_ source: inout CaseSource) -> String {
        let digits = (0..<source.number(0...9)).map { _ in String(source.number(0...9)) }.joined()
        return digits.isEmpty ? "" : "." + digits
    }

    private static func offset(_ source: inout CaseSource) -> String {
        guard source.once(in: 3) else { return source.pick(["Z", "Z", "z"]) }
        return source.pick(["+", "-"]) + ReferenceCalendar.padded(source.number(0...23), 2)
            + source.pick([":00", ":30", ":59", "00", "30", ""])
    }
}
