import EventSchema
import EventValidation
import TestCases
import Testing

@Suite("An enumeration")
struct EnumerationTests {
    static func property(_ name: String, _ type: PropertyType, _ values: [PlanValue], nullable: Bool = false)
        -> PropertyDefinition
    {
        PropertyDefinition(
            name: name,
            type: type,
            isRequired: false,
            isNullable: nullable,
            enumeration: values,
            location: .line(1)
        )
    }

    static let catalog = EventCatalog(
        plan: TrackingPlan(events: [
            EventDefinition(
                key: "E",
                trackers: ["console"],
                properties: [
                    property("text", .string, [.string("a\"b"), .string("é"), .string("")]),
                    property("integer", .integer, [.integer(1), .integer(.min)]),
                    property("number", .number, [.number(0), .number(2.5), .number(1e15), .number(1e16)]),
                    property("truth", .boolean, [.boolean(true)]),
                    property("time", .timestamp, [.string("2020-01-01T00:00:00Z")]),
                    property("day", .date, [.string("2020-01-01")]),
                    property("id", .uuid, [.string("0190A2B4-0000-7000-8000-000000000002")]),
                    property("maybe", .string, [.string("x")], nullable: true),
                ],
                location: .line(2)
            )
        ])
    )

    func verdicts(_ member: String) throws -> [[String]] {
        try EventValidator(catalog: Self.catalog).check(#"{"name":"E","payload":{\#(member)}}"#).verdicts
    }

    @Test(
        "contains equal values, however they are written",
        arguments: [
            #""text":"a\"b""#, #""text":"\u00e9""#, #""text":"""#, #""integer":1"#, #""integer":1.0"#,
            #""integer":-9223372036854775808"#, #""number":0"#, #""number":-0.0"#, #""number":25e-1"#,
            #""number":1000000000000000"#, #""number":1e15"#, #""number":10000000000000000"#,
            #""number":10000000000000000.0"#,
            #""truth":true"#, #""time":"2020-01-01T00:00:00Z""#, #""time":"2020-01-01T01:00:00.000+01:00""#,
            #""day":"2020-01-01""#, #""id":"0190a2b4-0000-7000-8000-000000000002""#, #""maybe":"x""#, #""maybe":null"#,
        ]
    )
    func equal(member: String) throws {
        #expect(try verdicts(member) == [])
    }

    @Test(
        "contains no other values",
        arguments: [
            #""text":"A\"B""#, #""text":"e\u0301""#, #""integer":2"#, #""number":1e17"#, #""number":2.5000001"#,
            #""truth":false"#,
            #""time":"2020-01-01T00:00:00.000001Z""#, #""day":"2020-01-02""#,
            #""id":"0190a2b4-0000-7000-8000-000000000003""#,
            #""maybe":"null""#,
        ]
    )
    func others(member: String) throws {
        let name = try #require(member.split(separator: "\"").first)
        #expect(try verdicts(member) == [["not-in-enum $.payload.\(name)"]])
    }

    @Test("is listed in the verdict, up to ten values")
    func long() throws {
        let values = (1...12).map { PlanValue.integer($0) }
        let definition = EventDefinition(
            key: "E",
            trackers: ["console"],
            properties: [Self.property("n", .integer, values)],
            location: .line(2)
        )
        let validator = EventValidator(catalog: EventCatalog(plan: TrackingPlan(events: [definition])))
        #expect(
            try validator.check(#"{"name":"E","payload":{"n":0}}"#).summary
                == [
                    "not-in-enum $.payload.n: one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … (12 values) / another integer (1)"
                ]
        )
    }
}
