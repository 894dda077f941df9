import EventValidation
import TestCases
import Testing

@Suite("Events in lines")
struct LineTests {
    let validator = EventValidator.sample()

    @Test(
        "an invalid line is one rejection, and the lines around it are accepted",
        arguments: [
            "{", "}", "{\"name\":\"Ping\"", "garbage", "{\"name\":\"Ping\"}}", "{\"name\":\"Ping\"},",
            "{\"name\":\"Ping\"}{\"name\":\"Ping\"}",
            "\"open", "[", "{\"name\":\"Ping\",}", "\u{0}", "\u{FEFF}{\"name\":\"Ping\"}", "{\"name\":\"Ping\"}\u{0}",
            "\u{A0}", "'",
        ]
    )
    func broken(line: String) throws {
        let checked = try validator.check("\(Sent.ping())\n\(line)\n\(Sent.ping())\n", as: .lines)
        #expect(checked.verdicts == [["malformed-json $"]])
        #expect(checked.rejections.map(\.index) == [1])
        #expect(checked.rejections.map(\.line) == [2])
        #expect(checked.rejections.map(\.original) == [Array(line.utf8)])
        #expect(checked.lines.count == 2)
    }

    @Test("empty lines count as lines, but not as events")
    func emptyLines() throws {
        let checked = try validator.check("\n\n{}\n \t\r\n\(Sent.ping())\n\n5\n\r\n", as: .lines)
        #expect(checked.rejections.map(\.index) == [0, 2])
        #expect(checked.rejections.map(\.line) == [3, 7])
        #expect(checked.count == 3)
    }

    @Test("the last line needs no newline, and CRLF is a newline", arguments: ["\n", "\r\n"], ["", "\n", "\r\n"])
    func lineEnds(separator: String, end: String) throws {
        let checked = try validator.check(
            "\(Sent.ping())\(separator)\(Sent.open(""))\(separator)\(Sent.ping())\(end)",
            as: .lines
        )
        #expect(checked.rejections.isEmpty)
        #expect(checked.batch?.entries.map(\.definitionIndex) == [2, 1, 2])
    }

    @Test("an empty body has no events", arguments: ["", "\n", " ", "\r\n\r\n", "\u{FEFF}", "\u{FEFF}\n"])
    func nothing(body: String) throws {
        let checked = try validator.check(body, as: .lines)
        #expect(checked.batch == nil && checked.rejections.isEmpty && checked.count == 0)
    }

    @Test("a byte order mark before the first line is ignored")
    func byteOrderMark() throws {
        #expect(try validator.check("\u{FEFF}\(Sent.ping())\n\(Sent.ping())", as: .lines).lines.count == 2)
    }

    @Test("an array in a line is not an event")
    func array() throws {
        let checked = try validator.check("[\(Sent.ping())]\n\(Sent.ping())", as: .lines)
        #expect(checked.summary == ["wrong-type $: an object with a name / array"])
        #expect(checked.lines.count == 1)
    }

    @Test("a carriage return within a line is white space between values, and invalid in a string")
    func carriageReturn() throws {
        #expect(try validator.check("{\"name\":\r\"Ping\"}", as: .lines).lines.count == 1)
        #expect(try validator.check("{\"name\":\"Ping\r\"}", as: .lines).verdicts == [["malformed-json $"]])
    }

    @Test("line numbers continue from body to body, and indexes start again")
    func severalBodies() throws {
        let validator = EventValidator.sample()
        #expect(try validator.check("\(Sent.ping())\n\n5\n", as: .lines).rejections.map(\.line) == [3])
        let second = try validator.check("\(Sent.ping())\n5", as: .lines)
        #expect(second.rejections.map(\.line) == [5])
        #expect(second.rejections.map(\.index) == [1])
    }

    @Test("an oversized number or deep nesting affects only its own line")
    func beyondTheParser() throws {
        let deep = Sent.ping(
            ",\"context\":" + String(repeating: "{\"a\":", count: 2000) + "1" + String(repeating: "}", count: 2000)
        )
        let body = [Sent.ping(), Sent.open("\"a\":1e999"), deep, Sent.ping()].joined(separator: "\n")
        let checked = try validator.check(body, as: .lines)
        #expect(checked.rejections.map(\.index) == [1, 2])
        #expect(checked.rejections.map { $0.violations.map(\.code) } == [[.outOfRange], [.tooDeep]])
        #expect(checked.lines.count == 2)
    }
}
