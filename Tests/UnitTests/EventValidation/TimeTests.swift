import EventModel
import EventValidation
import TestCases
import Testing

@Suite("The time of an event")
struct TimeTests {
    let validator = EventValidator.sample()

    func line(_ time: String) throws -> String? {
        try validator.check(Sent.ping(",\"time\":\"\(time)\"")).lines.first
    }

    @Test(
        "is written in UTC with its precision",
        arguments: [
            ("2010-12-01T08:26:00Z", "2010-12-01T08:26:00Z"),
            ("2010-12-01t08:26:00z", "2010-12-01T08:26:00Z"),
            ("2010-12-01T08:26:00.0Z", "2010-12-01T08:26:00.0Z"),
            ("2010-12-01T08:26:00.12Z", "2010-12-01T08:26:00.12Z"),
            ("2010-12-01T08:26:00.123456Z", "2010-12-01T08:26:00.123456Z"),
            ("2010-12-01T08:26:00.123456789Z", "2010-12-01T08:26:00.123456Z"),
            ("2010-12-01T08:26:00.999999999Z", "2010-12-01T08:26:00.999999Z"),
            ("2010-12-01T10:26:00.5+02:00", "2010-12-01T08:26:00.5Z"),
            ("2010-12-31T23:30:00-00:45", "2011-01-01T00:15:00Z"),
            ("2012-02-28T22:00:00-23:59", "2012-02-29T21:59:00Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("2010-12-01T08:26:00+0200", "2010-12-01T06:26:00Z"),
            ("2010-12-01T08:26:00.25-0330", "2010-12-01T11:56:00.25Z"),
            ("2010-12-01T08:26:00+03", "2010-12-01T05:26:00Z"),
            ("2017-01-01T02:59:60+03", "2017-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
            ("2017-01-01T00:59:60.25+01:00", "2017-01-01T00:00:00.25Z"),
        ]
    )
    func canonical(sent: String, canonical: String) throws {
        #expect(try line(sent)?.contains("\"time\":\"\(canonical)\",\"receivedAt\"") == true)
        let event = Sent.purchase(",\"at\":\"\(sent)\"")
        #expect(try validator.payload(of: event).hasSuffix("\"at\":\"\(canonical)\"}"))
    }

    @Test(
        "is refused in any other format, and outside the years 0001 to 9999",
        arguments: [
            "", "2010-12-01", "2010-12-01 08:26:00Z", "2010-12-01T08:26:00", "2010-12-01T08:26Z",
            "2010-12-01T24:00:00Z",
            "2010-12-01T08:60:00Z", "2010-12-01T08:26:61Z", "2010-12-01T08:26:60Z", "2010-12-01T08:26:00.Z",
            "2010-12-01T08:26:00,5Z", "2010-12-01T08:26:00+020", "2010-12-01T08:26:00+2",
            "2010-12-01T08:26:00+02:0", "2010-12-01T08:26:00+24:00",
            "2010-12-01T08:26:00+02:60",
            "2010-12-01T08:26:00Z ", "2010-13-01T08:26:00Z", "2010-02-29T08:26:00Z", "2010-12-00T08:26:00Z",
            "10-12-01T08:26:00Z",
            "0000-06-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "0000-12-31T23:59:59-00:01",
            "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z", "+2010-12-01T08:26:00Z",
        ]
    )
    func refused(sent: String) throws {
        #expect(try validator.check(Sent.ping(",\"time\":\"\(sent)\"")).verdicts == [["invalid-time $.time"]])
        #expect(try validator.check(Sent.purchase(",\"at\":\"\(sent)\"")).verdicts == [["wrong-type $.payload.at"]])
    }

    @Test("is the time of arrival if the event has none")
    func absent() throws {
        let checked = try validator.check(Sent.ping())
        #expect(checked.batch?.entries.map(\.time) == [Sent.arrival])
        let times = #""time":"2023-11-14T22:13:20.000000Z","receivedAt":"2023-11-14T22:13:20.000000Z""#
        #expect(checked.lines.first?.contains(times) == true)
    }

    @Test("of arrival may only be stated by events that Sluice wrote")
    func receivedAt() throws {
        let event = Sent.ping(#","receivedAt":"2020-05-05T05:05:05.5Z""#)
        #expect(try validator.check(event).verdicts == [["unknown-field $.receivedAt"]])
        let again = EventValidator.sample(acceptsReceivedAt: true)
        #expect(try again.check(event).lines.first?.contains(#""receivedAt":"2020-05-05T05:05:05.5Z""#) == true)
        #expect(
            try again.check(Sent.ping()).lines.first?.contains(#""receivedAt":"2023-11-14T22:13:20.000000Z""#) == true
        )
        #expect(try again.check(Sent.ping(#","receivedAt":"now""#)).verdicts == [["invalid-time $.receivedAt"]])
    }

    @Test("of arrival is the same for a whole body")
    func clock() throws {
        var asked: Int64 = 0
        let validator = EventValidator(
            catalog: .sample,
            now: {
                asked += 1
                return Timestamp(microseconds: asked * 1_000_000)
            }
        )
        #expect(
            try validator.check("[\(Sent.ping()),\(Sent.ping())]").batch?.entries.map(\.time.microseconds) == [
                1_000_000, 1_000_000,
            ]
        )
        #expect(try validator.check(Sent.ping()).batch?.entries.map(\.time.microseconds) == [2_000_000])
    }
}
