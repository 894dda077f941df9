import EventValidation
import TestCases
import Testing

@Suite("A document")
struct DocumentTests {
    let validator = EventValidator.sample()

    @Test(
        "that is not JSON is refused as a whole",
        arguments: [
            ("", "nothing"), (" \n", "nothing"), ("\u{FEFF}", "nothing"),
            ("{", "invalid syntax"), ("{\"name\":\"Ping\"", "invalid syntax"),
            ("{\"name\":\"Ping\"} x", "invalid syntax"),
            ("{\"name\":\"Ping\",}", "invalid syntax"),
            ("nul", "invalid syntax"), ("{\"name\":\"Ping\"}{}", "invalid syntax"),
            ("[{\"name\":\"Ping\"},]", "invalid syntax"),
            ("[,{\"name\":\"Ping\"}]", "invalid syntax"),
            ("[{\"name\":\"Ping\"}", "invalid syntax"),
            ("[{\"name\":\"Ping\"}] x", "invalid syntax"),
            ("[{\"name\":\"Ping\"}]]", "invalid syntax"), ("[", "invalid syntax"),
            ("{\"name\":01}", "an invalid number"),
            ("{\"name\":\"Ping}", "a string that is not closed, or contains a control character or an invalid escape"),
            ("{\"name\":\"\\x\"}", "a string that is not closed, or contains a control character or an invalid escape"),
        ]
    )
    func malformed(body: String, found: String) {
        let error = #expect(throws: MalformedBody.self) { _ = try validator.check(body) }
        #expect(error?.violation.summary == "malformed-json $: JSON (RFC 8259) / \(found)")
    }

    @Test(
        "that is JSON but not an event is one rejection",
        arguments: ["null", "\"text\"", "5", "-1.5e3", "true", " false "]
    )
    func noEvent(body: String) throws {
        let checked = try validator.check(body)
        #expect(checked.verdicts == [["wrong-type $"]])
        #expect(checked.rejections.map(\.line) == [nil])
        #expect(checked.rejections.map(\.original) == [Array(body.utf8)])
        #expect(checked.batch == nil)
    }

    @Test("that is an empty array has no events", arguments: ["[]", " [ \n] ", "\u{FEFF}[]"])
    func emptyArray(body: String) throws {
        #expect(try validator.check(body).count == 0)
    }

    @Test("may have a byte order mark")
    func byteOrderMark() throws {
        #expect(try validator.check("\u{FEFF}\(Sent.ping())").lines.count == 1)
        #expect(throws: MalformedBody.self) { _ = try validator.check("\u{FEFF}\u{FEFF}\(Sent.ping())") }
    }

    @Test(
        "with a number outside the range of a double is an event out of range",
        arguments: [("1e400", ""), ("[-1e999]", "[0]"), ("9\(String(repeating: "0", count: 309))", "")]
    )
    func oversizedNumber(value: String, step: String) throws {
        let checked = try validator.check(Sent.open("\"x\":\(value)"))
        let expected = "a number within the range of a double, of at most 1000 digits"
        #expect(checked.summary == ["out-of-range $.payload.x\(step): \(expected) / a number out of range"])
    }
}

@Suite("An array")
struct ArrayTests {
    let validator = EventValidator.sample()

    @Test("gives each rejection its own position and bytes")
    func positions() throws {
        let checked = try validator.check(
            " [ 5 ,\(Sent.ping()),\n{ \"a\" : [1, \"],\\\"\"] } , [ ],\(Sent.ping()) , null\t] "
        )
        #expect(checked.rejections.map(\.index) == [0, 2, 3, 5])
        #expect(
            checked.rejections.map { String(decoding: $0.original, as: UTF8.self) } == [
                "5", "{ \"a\" : [1, \"],\\\"\"] }", "[ ]", "null",
            ]
        )
        #expect(checked.lines.count == 2)
    }

    @Test(
        "has its valid elements accepted beside one that the parser refuses",
        arguments: [
            (Sent.open("\"a\":1e400"), "out-of-range $.payload.a"),
            ("{\"name\":\"Ping\" 5}", "malformed-json $"),
            ("{\"name\":\"Ping\",}", "malformed-json $"),
            ("nonsense", "malformed-json $"),
            ("\"\\ud800\"", "malformed-json $"),
            ("{]", "malformed-json $"),
            (String(repeating: "[", count: 1100) + String(repeating: "]", count: 1100), "too-deep $"),
        ]
    )
    func oneBad(element: String, verdict: String) throws {
        let checked = try validator.check("[\(Sent.ping()), \(element) ,\(Sent.ping())]")
        #expect(checked.verdicts == [[verdict]])
        #expect(checked.rejections.map(\.index) == [1])
        #expect(checked.rejections.map(\.original) == [Array(element.utf8)])
        #expect(checked.lines.count == 2)
    }

    @Test("of more than 256 KiB has the same result as a shorter one")
    func large() throws {
        let cycle = [
            Sent.ping(), "5", Sent.purchase(#","colour":1"#), "{\"name\":\"Ping\",}",
            Sent.open("\"a\":1e400,\"b\":\"\\\"],[\""),
            Sent.purchase(#","total":0.10"#), " {} ", "[[],{}]", "\"],\"",
            Sent.open("\"x\":\"\(String(repeating: "x", count: 500))\""),
        ]
        let small = try validator.check("[\(cycle.joined(separator: ","))]")
        let repeats = 400
        let body = "[\(Array(repeating: cycle, count: repeats).joined().joined(separator: " ,\n"))]"
        #expect(body.utf8.count > 256 << 10)
        let large = try validator.check(body)
        #expect(large.verdicts == Array(repeating: small.verdicts, count: repeats).flatMap(\.self))
        let positions = (0..<repeats).flatMap { round in small.rejections.map { round * cycle.count + $0.index } }
        #expect(large.rejections.map(\.index) == positions)
        #expect(large.rejections.prefix(7).map(\.original) == small.rejections.prefix(7).map(\.original))
        let ids = { (lines: [String]) in lines.map { $0.dropFirst(45) } }
        #expect(ids(large.lines) == Array(repeating: ids(small.lines), count: repeats).flatMap(\.self))
    }

    @Test("of more than 256 KiB that is not closed is refused as a whole", arguments: ["", ",]", "]]", "} ]"])
    func largeAndBroken(end: String) {
        let body = "[" + Array(repeating: Sent.ping(), count: 20_000).joined(separator: ",") + end
        #expect(throws: MalformedBody.self) { _ = try validator.check(body) }
    }
}
