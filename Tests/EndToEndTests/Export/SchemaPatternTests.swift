import EventModel
import EventSchema
import Foundation
import PatternMatching
import PlanTools
import ServerTestSupport
import Testing

/// The patterns of the exported schemas in ECMAScript, the dialect of JSON Schema.
@Suite("The patterns of JSON Schema in Chromium", .timeLimit(.minutes(5)))
struct SchemaPatternTests {
    private static let patterns = [
        "^[A-Z]?[0-9]{6}$", "a.c", "(?s)a.c", #"^\d+\s\w*$"#, #"\bfoo\b"#, #"\A(?:a|b)\z"#, "(?i)k+s", "(?m)^a$",
        #"\Qa.b\E+"#,
        "[[:punct:]]{2}", #"[^\W\d]"#, #"\x{1F600}"#, "{,2}", "a{2,}?", "[]a-]", "(?P<year>[0-9]{4})", "^*", "]}",
        "é|ß",
    ]
    private static let texts = [
        "", "a", "536365", "536365\n", "a\nc", "abc", "a\u{2028}c", "12 x", "٣ x", "foo", "xfoo", "foo é", "b", "b\n",
        "KS",
        "\u{212A}ſ", "x\na\ny", "a.b", "axb", "!?", "_", "_1", "😀", "{,2}", "aa", "-", "]}", "2020", "ß", "\r", "\\",
    ]
    private static let moments = [
        "2020-02-29T23:59:60Z", "2021-02-29T00:00:00Z", "2020-01-01T00:00:00Z\n", "2020-01-01t00:00:00.5z",
        "2016-12-31T23:59:60.25+00:00", "2017-01-01T00:59:60+01:00", "2017-01-01T05:29:60+05:30",
        "2016-12-31T18:59:60-05:00",
        "2016-12-31T18:58:60-05:00", "2016-12-31T20:29:60-03:30", "2017-01-01T00:58:60+01:00",
        "2017-01-01T13:44:60+13:45",
        "1900-02-29T00:00:00Z", "2000-02-29T00:00:00-00:00", "2020-01-01T24:00:00Z", "2020-01-01T00:00:00+24:00",
        "2017-01-01T09:59:60+10:00", "2017-01-01T22:59:60+23:00", "2017-01-01T23:59:60+00:00",
        "2016-12-31T00:00:60-23:59", "2017-01-01T00:59:60+0100", "2017-01-01T00:59:60+01", "2016-12-31T18:59:60-05",
        "2016-12-31T18:59:60-0500", "2016-12-31T18:58:60-05", "2017-01-01T05:29:60+0530", "2017-01-01T00:59:60+02",
        "2020-01-01T00:00:00+0000", "2020-01-01T00:00:00-03", "2020-01-01T00:00:00+000", "2020-01-01T00:00:00",
        "2016-12-31T20:29:60-0330", "0000-02-29T00:00:00Z", "0001-01-01T00:00:00Z", "2016-12-31T23:59:60+00",
        "2017-01-01T05:29:60+05",
    ]

    @Test("the patterns of exported JSON Schemas match the same texts as the validator")
    func agreement() async throws {
        let place = PlanLocation(file: "plan.plist", line: 1, column: 1)
        let properties = Self.patterns.enumerated().map { index, pattern in
            PropertyDefinition(name: "p\(index)", type: .string, pattern: pattern, location: place)
        }
        let plan = TrackingPlan(events: [
            EventDefinition(key: "E", trackers: ["console"], properties: properties, location: place)
        ])
        let folder = try TestFolder()
        try folder.write(JSONSchemaExport(plan).envelope.text, to: "schema.txt")
        let schema = JSONSchemaExport(plan).envelope.text.replacingOccurrences(of: "</", with: "<\\/")
        try folder.write(
            "<!DOCTYPE html><meta charset=utf-8><script type=\"text/json\">\(schema)</script>",
            to: "plan.html"
        )

        let matched = try await Browser(in: folder).evaluate(
            """
            const schema = JSON.parse(document.scripts[0].textContent);
            const shared = schema["$defs"];
            const matches = (pattern, text) => new RegExp(pattern, "u").test(text);
            const own = Object.values(shared.payload_e.properties).map(property => property.pattern);
            const isMoment = text => matches(shared.timestamp.pattern, text)
              && (!matches(shared.timestamp.if.pattern, text) || matches(shared.leapSecond.pattern, text));
            return {
              patterns: own.map(pattern => \(try Self.json(Self.texts)).map(text => matches(pattern, text))),
              moments: \(try Self.json(Self.moments)).map(isMoment),
              texts: ["a\\n", "\\u0000", "\\ud800", "\\ud83d\\ude00"].map(text => matches(shared.text.pattern, text))
            };
            """,
            on: "plan.html",
            as: Matched.self
        )
        for (pattern, matches) in zip(Self.patterns, matched.patterns) {
            let compiled = try Pattern(pattern)
            #expect(matches == Self.texts.map { compiled.matches($0) }, "\(pattern)")
        }
        #expect(matched.patterns.count == Self.patterns.count)
        #expect(matched.moments == Self.moments.map { Timestamp($0) != nil })
        #expect(matched.moments.contains(true) && matched.moments.contains(false))
        #expect(matched.texts == [true, false, false, true])
    }

    private struct Matched: Decodable {
        let patterns: [[Bool]]
        let moments: [Bool]
        let texts: [Bool]
    }

    /// A JavaScript literal.
    private static func json(_ texts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self).replacingOccurrences(
            of: "\u{2028}",
            with: "\\u2028"
        )
    }
}
