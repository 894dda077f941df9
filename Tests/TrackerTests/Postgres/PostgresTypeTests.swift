import EventSchema
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: types")
struct PostgresTypeTests {
    private static let everyType: [PropertyDefinition] = [
        property("text", .string, required: false, nullable: true),
        property("whole", .integer, required: false, nullable: true),
        property("real", .number, required: false, nullable: true),
        property("exact", .decimal, required: false, nullable: true),
        property("truth", .boolean, required: false, nullable: true),
        property("moment", .timestamp, required: false, nullable: true),
        property("day", .date, required: false, nullable: true),
        property("uuid", .uuid, required: false, nullable: true),
        property("list", .array, required: false, nullable: true),
        property("thing", .object, required: false, nullable: true),
        property("any", .any, required: false, nullable: true),
    ]

    /// Loads one value and returns the stored value as text.
    private func roundTrip(_ values: [(key: String, json: String)], as type: String = "text") async throws -> [String] {
        let fixture = try await PostgresFixture([event("Value", Self.everyType)])
        let events = values.enumerated().map { number, value in
            #"{"id":"\#(id(number))","name":"Value","payload":{"\#(value.key)":\#(value.json)}}"#
        }
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        #expect(outcome.refusals == [])
        #expect(outcome.retry == nil)
        let column = values.first?.key ?? ""
        return try await fixture.rows("\"\(column)\"::\(type)", of: "analytics.value")
    }

    @Test("integers arrive exactly, including the minimum and the maximum")
    func integers() async throws {
        let numbers = ["0", "-1", "9223372036854775807", "-9223372036854775808", "1000000000000000000"]
        let rows = try await roundTrip(numbers.map { ("whole", $0) })
        #expect(rows == numbers)
    }

    @Test("doubles arrive bit for bit")
    func doubles() async throws {
        let numbers = [
            "0", "2.55", "-0.1", "1e-7", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308",
            "0.30000000000000004", "1.2345678901234568e20", "1e22", "9007199254740993", "4.35", "1e23",
        ]
        let rows = try await roundTrip(numbers.map { ("real", $0) })
        #expect(rows.compactMap { Double($0) } == numbers.compactMap { Double($0) })
    }

    @Test("decimals keep every digit, including trailing zeros")
    func decimals() async throws {
        let numbers = [
            "0", "0.00", "1", "-1.50", "12.345", "10000", "9999", "100000000", "0.0001", "0.00001", "-0.00012345",
            "123456789012345678901234567890.12345678901234567890", "99999999", "10000.0001", "1000000.10",
            "5000000000000000000000000000000000000001", "0.10", "40000.0", "-7",
        ]
        let rows = try await roundTrip(numbers.map { ("exact", "\"\($0)\"") })
        #expect(rows == numbers)
    }

    @Test("a decimal sent as a JSON number is stored with the number's shortest representation")
    func decimalNumbers() async throws {
        let rows = try await roundTrip([("exact", "19.99"), ("exact", "-3"), ("exact", "0.5"), ("exact", "1e3")])
        #expect(rows.compactMap { Double($0) } == [19.99, -3, 0.5, 1000])
        #expect(rows[0] == "19.99")
    }

    @Test("text arrives unchanged, including escapes and non-ASCII characters")
    func texts() async throws {
        // The text between the quotes, and the resulting UTF-8.
        let texts: [(json: String, hex: String)] = [
            ("", ""),
            ("plain", "706c61696e"),
            (#"\"\\\/\b\f\n\r\t"#, "225c2f080c0a0d09"),
            (#"\u0001\u00e9\u65e5\ud83d\ude42"#, "01c3a9e697a5f09f9982"),
            ("é日🙂", "c3a9e697a5f09f9982"),
            (#"seven77\\"#, "736576656e37375c"),
        ]
        let fixture = try await PostgresFixture([event("Value", Self.everyType)])
        let events = texts.enumerated().map { number, text in
            #"{"id":"\#(id(number))","name":"Value","payload":{"text":"\#(text.json)"}}"#
        }
        _ = await fixture.tracker.deliver(try fixture.delivery(events))
        let rows = try await fixture.rows("'x' || encode(convert_to(text, 'UTF8'), 'hex')", of: "analytics.value")
        #expect(rows == texts.map { "x" + $0.hex })
    }

    @Test("timestamps arrive in UTC with microsecond precision, from year 1 to year 9999")
    func timestamps() async throws {
        let moments = [
            ("2010-12-01T08:26:00Z", "2010-12-01 08:26:00+00"),
            ("2010-12-01T08:26:00.123456+02:00", "2010-12-01 06:26:00.123456+00"),
            ("1999-12-31T23:59:59.999999Z", "1999-12-31 23:59:59.999999+00"),
            ("0001-01-01T00:00:00Z", "0001-01-01 00:00:00+00"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999+00"),
        ]
        let rows = try await roundTrip(moments.map { ("moment", "\"\($0.0)\"") })
        #expect(rows == moments.map(\.1))
    }

    @Test("dates arrive unchanged")
    func dates() async throws {
        let days = ["2000-01-01", "1970-01-01", "2024-02-29", "0001-01-01", "9999-12-31"]
        let rows = try await roundTrip(days.map { ("day", "\"\($0)\"") })
        #expect(rows == days)
    }

    @Test("Booleans and UUIDs arrive unchanged")
    func truthsAndIDs() async throws {
        #expect(try await roundTrip([("truth", "true"), ("truth", "false")]) == ["true", "false"])
        let uuid = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
        let rows = try await roundTrip([("uuid", "\"\(uuid)\""), ("uuid", "\"\(uuid.uppercased())\"")])
        #expect(rows == [uuid, uuid])
    }

    @Test("arrays, objects and values of type any are stored as jsonb")
    func json() async throws {
        #expect(try await roundTrip([("list", #"[1, "a", null, {"b": []}]"#)]) == [#"[1, "a", null, {"b": []}]"#])
        #expect(try await roundTrip([("thing", #"{"a": {"b": "}\""}}"#)]) == [#"{"a": {"b": "}\""}}"#])
        let kinds = [#""text""#, "12.5", "true", "[]", "{}"]
        #expect(try await roundTrip(kinds.map { ("any", $0) }) == kinds)
    }

    @Test("null and absent properties are stored as NULL")
    func nulls() async throws {
        let fixture = try await PostgresFixture([event("Value", Self.everyType)])
        let nulls = Self.everyType.map { #""\#($0.name)":null"# }.joined(separator: ",")
        let outcome = await fixture.tracker.deliver(
            try fixture.delivery([
                #"{"id":"\#(id(1))","name":"Value","payload":{\#(nulls)}}"#,
                #"{"id":"\#(id(2))","name":"Value","payload":{}}"#,
            ])
        )
        #expect(outcome.refusals == [])
        let columns = Self.everyType.map { "\"\($0.name)\"" }.joined(separator: ",")
        #expect(try await fixture.rows("num_nulls(\(columns))", of: "analytics.value") == ["11", "11"])
    }

    @Test("the envelope's fields have columns of their own, which are NULL for absent fields")
    func envelope() async throws {
        let fixture = try await PostgresFixture([event("Value", [])])
        let outcome = await fixture.tracker.deliver(
            try fixture.delivery([
                #"""
                {"id":"\#(id(1))","name":"Value","time":"2024-05-06T07:08:09.5Z","userId":"u","anonymousId":"a\"b",
                "sessionId":"s","context":{"ip":"::1","n":[1]},"payload":{}}
                """#,
                #"{"id":"\#(id(2))","name":"Value","time":"2024-05-06T07:08:09Z"}"#,
            ])
        )
        #expect(outcome.refusals == [])
        let rows = try await fixture.rows(
            "id, occurred_at, received_at > '2024-06-01', user_id, anonymous_id, session_id, context",
            of: "analytics.value"
        )
        #expect(
            rows == [
                #"\#(id(1))|2024-05-06 07:08:09.5+00|t|u|a"b|s|{"n": [1], "ip": "::1"}"#,
                #"\#(id(2))|2024-05-06 07:08:09+00|t||||"#,
            ]
        )
    }

    @Test("properties that are not in the plan are stored in extra if the plan allows them")
    func extra() async throws {
        let fixture = try await PostgresFixture([
            event("Loose", [property("known", .integer, required: false)], extra: true)
        ])
        let outcome = await fixture.tracker.deliver(
            try fixture.delivery([
                #"{"id":"\#(id(1))","name":"Loose","payload":{"z":{"y":1},"known":2,"a\"b":[null]}}"#,
                #"{"id":"\#(id(2))","name":"Loose","payload":{"known":3}}"#,
                #"{"id":"\#(id(3))","name":"Loose","payload":{"only":"this"}}"#,
            ])
        )
        #expect(outcome.refusals == [])
        #expect(
            try await fixture.rows("known, extra", of: "analytics.loose") == [
                #"2|{"z": {"y": 1}, "a\"b": [null]}"#, "3|", #"|{"only": "this"}"#,
            ]
        )
    }
}
