import EventSchema
import TestCases
import Testing

@Suite("SQL and Swift names")
struct NameTests {
    @Test(
        "the name of a table or column consists of the words in lower case",
        arguments: [
            ("Item Purchased", "item_purchased"), ("itemPurchased", "item_purchased"),
            ("item-purchased", "item_purchased"), ("ITEM_PURCHASED", "item_purchased"), ("invoiceNo", "invoice_no"),
            ("HTTPServer", "http_server"), ("userIDs", "user_ids"), ("URLsSeen", "urls_seen"), ("ID", "id"),
            ("test_1", "test_1"), ("test1", "test1"), ("line2Total", "line2_total"), ("2nd try", "2nd_try"),
            ("  a -- b  ", "a_b"), ("Größe", "größe"), ("Änderung", "änderung"), ("訂單 已付", "訂單_已付"),
            ("e\u{301}te\u{301}", "e\u{301}te\u{301}"), ("🎉", "u1f389"), ("", "u"), ("?!", "u3f_u21"),
        ]
    )
    func snakeCase(name: String, expected: String) {
        #expect(Array(SQLName.snakeCase(name).utf8) == Array(expected.utf8))
    }

    @Test("a SQL name has at most 63 bytes and ends with a complete character")
    func limit() {
        #expect(SQLName.snakeCase(String(repeating: "a", count: 70)) == String(repeating: "a", count: 63))
        #expect(SQLName.snakeCase(String(repeating: "é", count: 40)) == String(repeating: "é", count: 31))
        #expect(SQLName.snakeCase("a" + String(repeating: "訂", count: 40)) == "a" + String(repeating: "訂", count: 20))
    }

    @Test(
        "the name of a type consists of capitalised words",
        arguments: [
            ("Item Purchased", "ItemPurchased"), ("item_purchased", "ItemPurchased"), ("URLPath", "URLPath"),
            ("view_screen", "ViewScreen"), ("2nd try", "_2ndTry"), ("level 1.2", "Level1_2"), ("level 12", "Level12"),
            ("Type", "`Type`"), ("self", "`Self`"), ("größe", "Größe"), ("🎉", "U1f389"), ("訂單", "訂單"),
        ]
    )
    func types(name: String, expected: String) {
        #expect(SwiftName.type(name) == expected)
    }

    @Test(
        "the name of a member begins in lower case",
        arguments: [
            ("Item Purchased", "itemPurchased"), ("unitPriceGBP", "unitPriceGBP"), ("URLPath", "urlPath"),
            ("Order ID", "orderID"), ("IDs", "ids"), ("class", "`class`"), ("Class", "`class`"), ("1st", "_1st"),
            ("test_1", "test1"), ("ÄnderungNr", "änderungNr"), ("x", "x"), ("X", "x"),
        ]
    )
    func members(name: String, expected: String) {
        #expect(SwiftName.member(name) == expected)
    }

    @Test(
        "the name of a case is not that of a member of enums or of Optional",
        arguments: [
            ("none", "none_"), ("Some", "some_"), ("rawValue", "rawValue_"), ("all cases", "allCases_"),
            ("nothing", "nothing"), ("12", "_12"), ("-1.5", "minus1_5"),
        ]
    )
    func cases(value: String, expected: String) {
        #expect(SwiftName.enumCase(.string(value)) == expected)
    }

    @Test("every text gives a SQL name and Swift names, and the same SQL name each time")
    func total() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x2FFFF, using: &random))
            }
            let name = String(String.UnicodeScalarView(scalars))
            let column = SQLName.snakeCase(name)
            #expect(!column.isEmpty && column.utf8.count <= SQLName.maximumBytes)
            #expect(!SwiftName.type(name).isEmpty && !SwiftName.member(name).isEmpty)
            #expect(SQLName.snakeCase(name) == column)
        }
    }
}
