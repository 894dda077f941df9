import EventValidation
import TestCases
import Testing

@Suite("The size of an event")
struct SizeTests {
    let validator = EventValidator.sample()

    /// An event of exactly this size.
    func event(ofBytes count: Int) -> String {
        let empty = Sent.open("\"x\":\"\"").utf8.count
        return Sent.open("\"x\":\"\(String(repeating: "x", count: count - empty))\"")
    }

    @Test("may be 1 MiB, in any kind of body")
    func largest() throws {
        let event = event(ofBytes: 1 << 20)
        #expect(event.utf8.count == 1 << 20)
        #expect(try validator.verdict(of: event) == [])
        #expect(try validator.check("[\(event)]").lines.count == 1)
    }

    @Test("may not be one byte more, and the events around it are accepted")
    func tooLarge() throws {
        let event = event(ofBytes: (1 << 20) + 1)
        #expect(try validator.verdict(of: event) == ["too-large $: at most 1048576 bytes / 1048577 bytes"])
        let checked = try validator.check("[\(Sent.ping()),\(event),\(Sent.ping())]")
        #expect(checked.rejections.map(\.index) == [1])
        #expect(checked.rejections.map(\.original.count) == [(1 << 20) + 1])
        #expect(checked.lines.count == 2)
    }

    @Test("is not the size of the array: many events may take more together")
    func together() throws {
        let event = event(ofBytes: 300 << 10)
        #expect(try validator.check("[\(Array(repeating: event, count: 5).joined(separator: ","))]").lines.count == 5)
        #expect(
            try validator.check(Array(repeating: event, count: 5).joined(separator: "\n"), as: .lines).lines.count == 5
        )
    }
}

@Suite("The depth of an event")
struct DepthTests {
    let validator = EventValidator.sample()

    /// An event whose innermost object or array is on this level; the event itself is on the first.
    func event(levels: Int, arrays: Bool, in place: (String) -> String, from start: Int) -> String {
        let (open, close) = arrays ? ("[", "]") : ("{\"a\":", "}")
        let inner = arrays ? "" : "1"
        let count = levels - start + 1
        return place(String(repeating: open, count: count) + inner + String(repeating: close, count: count))
    }

    static let places: [@Sendable (String) -> String] = [
        { Sent.open("\"x\":\($0)") }, { Sent.purchase(",\"extra\":\($0)") },
    ]

    @Test("may be 64 levels, and not one more", arguments: places, [true, false])
    func limit(place: @Sendable (String) -> String, arrays: Bool) throws {
        #expect(try validator.verdict(of: event(levels: 64, arrays: arrays, in: place, from: 3)) == [])
        let verdict = try validator.verdict(of: event(levels: 65, arrays: arrays, in: place, from: 3))
        #expect(verdict.count == 1)
        #expect(verdict.first?.hasPrefix("too-deep $.payload") == true)
        #expect(verdict.first?.hasSuffix(": at most 64 levels of nesting / more") == true)
    }

    @Test("is reported with the place of the first level that is too deep")
    func path() throws {
        let event = event(levels: 65, arrays: true, in: { Sent.ping(",\"context\":{\"x\":\($0)}") }, from: 3)
        #expect(try validator.check(event).verdicts == [["too-deep $.context.x" + String(repeating: "[0]", count: 62)]])
    }

    @Test(
        "greater than the parser's limit is reported as too deep, too",
        arguments: [1_022, 1_023, 1_024, 1_025, 1_026, 5_000, 100_000]
    )
    func beyondTheParser(levels: Int) throws {
        let event = event(levels: levels, arrays: true, in: { Sent.open("\"x\":\($0)") }, from: 3)
        let checked = [
            try validator.check(event), try validator.check("[\(Sent.ping()),\(event)]"),
            try validator.check(event, as: .lines),
        ]
        #expect(checked.allSatisfy { $0.rejections.map { $0.violations.map(\.code) } == [[.tooDeep]] })
        #expect(checked[1].lines.count == 1)
    }

    @Test("is counted from the event, and not from the array around it")
    func aroundIt() throws {
        let event = event(levels: 64, arrays: false, in: { Sent.ping(",\"context\":\($0)") }, from: 2)
        #expect(try validator.check("[\(event)]").lines.count == 1)
    }

    @Test("does not matter in values that are not kept")
    func unplanned() throws {
        let event = event(levels: 70, arrays: true, in: { Sent.purchase(",\"colour\":\($0)") }, from: 3)
        #expect(try validator.check(event).verdicts == [["unplanned-property $.payload.colour"]])
    }
}
