import EventSchema
import PlanTools
import TestCases
import Testing

@Suite("The exported Markdown page")
struct MarkdownExportTests {
    private static let place = PlanLocation.line(1)

    private static func page(_ events: [EventDefinition]) -> [Substring] {
        MarkdownExport(TrackingPlan(version: "7", events: events)).text.split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
    }

    /// A plan with one event and one property, with the text in every field that holds text.
    private static func event(with text: String) -> EventDefinition {
        EventDefinition(
            key: "Sold",
            name: text,
            description: text,
            owner: text,
            deprecated: text,
            trackers: [text],
            properties: [
                PropertyDefinition(
                    name: text,
                    type: .string,
                    description: text,
                    deprecated: text,
                    enumeration: [.string(text)],
                    pattern: text,
                    examples: [.string(text)],
                    location: place
                )
            ],
            location: place
        )
    }

    @Test("lists the events by owner, and has a section with an anchor for each event")
    func page() {
        var items = PropertyDefinition(name: "", type: .object, location: Self.place)
        items.properties = [
            PropertyDefinition(name: "sku", type: .string, minLength: 1, maxLength: 8, location: Self.place),
            PropertyDefinition(
                name: "price",
                type: .decimal,
                isNullable: true,
                minimum: .string("0"),
                location: Self.place
            ),
        ]
        var lines = PropertyDefinition(name: "lines", type: .array, isRequired: false, location: Self.place)
        lines.items = items
        let events = [
            EventDefinition(key: "Ping", trackers: ["console"], location: Self.place),
            EventDefinition(
                key: "Item Sold",
                description: "Somebody bought it.",
                owner: "checkout",
                deprecated: "Send Order Placed.",
                trackers: ["console", "kafka"],
                properties: [lines],
                allowsAdditionalProperties: true,
                location: Self.place
            ),
        ]
        let expected = """
            # Tracking plan 7

            2 events. Made by `sluice export markdown` from the plan: edit that.

            ## Contents

            - checkout
              - [Item Sold](#item_sold) (deprecated)
            - Without an owner
              - [Ping](#ping)

            <a id="item_sold"></a>

            ## Item Sold

            > **Deprecated.** Send Order Placed.

            Somebody bought it.

            - Owner: checkout
            - Goes to: console, kafka

            | Property | Type | Required | Null | Limits | Allowed values | Examples | Description |
            | --- | --- | --- | --- | --- | --- | --- | --- |
            | `lines` | array of object | no | no |  |  |  |  |
            | `lines[].sku` | string | yes | no | length 1 to 8 characters |  |  |  |
            | `lines[].price` | decimal | yes | yes | at least `0` |  |  |  |

            Other properties are allowed in its payload.
            """
        #expect(Self.page(events).joined(separator: "\n").hasPrefix(expected))
    }

    @Test(
        "a text of the plan is displayed literally, wherever it is used",
        arguments: [
            "a|b", "`code` | <b>", "<script>alert(1)</script>", "line\nbreak", "[x](http://y) *z* _u_", "# head",
            "- item",
            "1. item", "``", "\\|", "&amp;", "$x$", " spaced ", "===", "é|ß",
        ]
    )
    func escapes(text: String) {
        let page = Self.page([Self.event(with: text)])
        // In code, every character is literal.
        let words = page.joined(separator: "\n").replacing(/```json.*?```/.dotMatchesNewlines(), with: "")
            .replacing("\\`", with: "").replacing(/`[^`\n]+`/, with: "")
        #expect(!words.contains("<script"))
        #expect(!words.contains("<b>"))
        #expect(!words.replacing("\\]", with: "").contains("](http"))
        // One heading of the page, one of the contents, one of the event; one row of properties under the table's head.
        #expect(page.count { $0.hasPrefix("#") } == 3)
        let rows = page.filter { $0.hasPrefix("| ") }
        #expect(rows.count == 3)
        for row in rows { #expect(Self.cells(in: row) == 8, "\(row)") }
    }

    @Test(
        "a URL in a description becomes a link, and the text around it stays text",
        arguments: [
            ("https://example.com/a_b", "<https://example.com/a_b>"),
            ("see https://a.b/?y=1&z=*2 now", "see <https://a.b/?y=1&z=*2> now"),
            ("(HTTP://a.b/c_(d)), a_b.", "(<HTTP://a.b/c_(d)>), a\\_b."),
            ("[x](http://y)", "\\[x\\](<http://y>)"),
            ("http://a|b|\u{301}c_", "<http://a>\\|b\\|\u{301}c\\_"),
            ("http://a<b>\nhttp://c d_e", "<http://a>&lt;b&gt;<br><http://c> d\\_e"),
            ("http://a?b&copy;=c&d", "<http://a?b&amp;copy;=c&d>"),
            ("https://, http://*", "https://, http://\\*"),
        ]
    )
    func addresses(text: String, markdown: String) {
        let page = Self.page([Self.event(with: text)])
        #expect(page.contains(Substring(markdown)))
        #expect(page.contains("> **Deprecated.** \(markdown)"))
        let row = page.last { $0.hasPrefix("| ") }
        #expect(row?.hasSuffix(" | **Deprecated:** \(markdown)<br>\(markdown) |") == true)
        #expect(row.map(Self.cells) == 8)
    }

    /// The number of a row's cells by GitHub's rule: a bar separates cells, unless a backslash precedes it.
    private static func cells(in row: Substring) -> Int {
        row.matches(of: /(?:\\.|[^|\\])+|\|/).count { $0.0 == "|" } - 1
    }
}
