import EventModel
import TestCases
import Testing

@Suite("Calendar dates")
struct CalendarDateTests {
    static func agrees(onDay day: Int) -> Bool {
        let text = ReferenceCalendar.date(ofDay: day)
        let date = CalendarDate(daysSince1970: Int32(day))
        return date.description == text && CalendarDate(text) == date && Int(date.daysSince1970) == day
    }

    @Test("agree with a calendar that counts days, throughout the years 0001 to 9999")
    func sampled() {
        let days = stride(from: ReferenceCalendar.firstDays[1], to: ReferenceCalendar.firstDays[10_000], by: 211)
        #expect(days.allSatisfy(Self.agrees))
    }

    @Test("agree with a calendar that counts days, at the start and end of every year and around the end of February")
    func edges() {
        for year in 1..<10_000 {
            let first = ReferenceCalendar.firstDays[year]
            let days = [
                first, first + 57, first + 58, first + 59, first + 60, ReferenceCalendar.firstDays[year + 1] - 1,
            ]
            #expect(days.allSatisfy(Self.agrees), "in the year \(year)")
        }
    }

    @Test(
        "agree with a calendar that counts days, on every day of leap years and other years",
        arguments: [1, 1900, 1970, 2000, 2023, 9999]
    )
    func wholeYear(year: Int) {
        #expect((ReferenceCalendar.firstDays[year]..<ReferenceCalendar.firstDays[year + 1]).allSatisfy(Self.agrees))
    }

    @Test("that do not exist are nil")
    func nonexistent() {
        for year in [0, 1600, 1900, 2000, 2023, 2024, 9999] {
            for month in 0...13 {
                for day in 0...32 {
                    let text = [(year, 4), (month, 2), (day, 2)].map { ReferenceCalendar.padded($0, $1) }.joined(
                        separator: "-"
                    )
                    #expect((CalendarDate(text) == nil) == (ReferenceCalendar.day(of: text) == nil), "\(text)")
                }
            }
        }
    }

    @Test(
        "in another format are nil",
        arguments: [
            "", "2020", "2020-1-01", "2020-01-1", "20200101", "2020-01-01 ", " 2020-01-01", "2020/01/01", "2020-01/01",
            "-020-01-01",
            "+020-01-01", "202a-01-01", "2020-0a-01", "2020-01-0a", "２020-01-01", "2020-01-01T",
        ]
    )
    func malformed(text: String) {
        #expect(CalendarDate(text) == nil)
    }

    @Test("are clamped to the years 0001 to 9999")
    func clamped() {
        #expect(CalendarDate(daysSince1970: .min).description == "0001-01-01")
        #expect(CalendarDate(daysSince1970: .max).description == "9999-12-31")
    }
}
