import EventSchema
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: names")
struct PostgresNameTests {
    @Test(
        "events can be migrated and loaded whatever their names contain",
        arguments: [
            "select", "user", "Ünïcödé Größe", "日本 語", "with \"quotes\" 'n' \\ backslash", "1st thing", "a;b--c",
            "🙂 smile",
            String(repeating: "Long Name ", count: 20), String(repeating: "日", count: 40), "%s$1", "tab\tnew",
        ]
    )
    func weird(name: String) async throws {
        let fixture = try await PostgresFixture([
            event(
                name,
                [property(name, .string), property("table", .integer, required: false)],
                description: name,
                extra: true
            )
        ])
        let key = Self.json(name)
        let outcome = await fixture.tracker.deliver(
            try fixture.delivery([
                #"{"id":"\#(id(1))","name":\#(key),"payload":{\#(key):"value","table":1,"other \"key\"":2}}"#,
                #"{"id":"\#(id(1))","name":\#(key),"payload":{\#(key):"again"}}"#,
            ])
        )
        #expect(outcome.refusals == [] && outcome.retry == nil)
        let table = "analytics." + SQLText.identifier(SQLName.snakeCase(name))
        let column = SQLText.identifier(SQLName.snakeCase(name))
        #expect(try await fixture.rows("\(column), \"table\", extra", of: table) == [#"value|1|{"other \"key\"": 2}"#])
    }

    @Test("an event without a table may have any properties, and the other events are migrated and loaded")
    func withoutTable() async throws {
        var seen = event("Seen", [property("userId", .string), property("user_id", .string), property("xmin", .any)])
        seen.trackers = ["kafka"]
        let fixture = try await PostgresFixture([seen, event("Sold", [property("sku", .string)])])
        let sold = #"{"id":"\#(id(1))","name":"Sold","payload":{"sku":"a"}}"#
        let outcome = await fixture.tracker.deliver(try fixture.delivery([sold]))
        #expect(outcome.refusals == [] && outcome.retry == nil)
        #expect(try await fixture.rows("sku", of: "analytics.sold") == ["a"])
        #expect(try await fixture.database.run("SELECT to_regclass('analytics.seen') IS NULL") == ["t"])
    }

    @Test("quotes in identifiers and literals are doubled, and NUL is omitted")
    func quoting() {
        #expect(SQLText.identifier(#"a"b"#) == #""a""b""#)
        #expect(SQLText.literal(#"a'b\c"#) == #"'a''b\c'"#)
        #expect(SQLText.identifier("a\0b") == #""ab""#)
        #expect(SQLText.identifier("e\u{301}\"") == "\"e\u{301}\"\"\"")
    }

    @Test("the server reads each text of an array as it is, whatever accents its signs have")
    func arrays() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let plain = ["", " ", "NULL", "a,b", "{}", "e", #"\"#, #"""#, #"a"b\c"#, "\n'\t$1"]
        for text in plain.flatMap({ [$0, $0 + "\u{301}", $0 + "," + $0] }) {
            let (array, element) = (SQLText.literal(SQLText.array([text, "b"])), SQLText.literal(text))
            #expect(try await database.run("SELECT \(array)::text[] = ARRAY[\(element), 'b']") == ["t"], "\(text)")
        }
    }

    private static func json(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
