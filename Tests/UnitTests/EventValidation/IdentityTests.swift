import EventModel
import EventValidation
import TestCases
import TestPromises
import Testing

@Suite("The id of an event")
struct IdentityTests {
    @Test("is kept, in lower case")
    func stated() throws {
        let checked = try EventValidator.sample().check(Sent.ping(#","id":"0190A2B4-ABCD-4EF0-8000-000000000001""#))
        #expect(checked.batch?.entries.first?.id.description == "0190a2b4-abcd-4ef0-8000-000000000001")
        #expect(checked.lines.first?.hasPrefix(#"{"id":"0190a2b4-abcd-4ef0-8000-000000000001","#) == true)
    }

    @Test(
        "is a UUID in its text form",
        arguments: [
            "", "0190a2b4abcd4ef08000000000000001", "{0190a2b4-abcd-4ef0-8000-000000000001}",
            "0190a2b4-abcd-4ef0-8000-00000000000g",
            "0190a2b4-abcd-4ef0-8000-0000000000010", "0190a2b-4abcd-4ef0-8000-000000000001",
            "urn:uuid:0190a2b4-abcd-4ef0-8000-000000000001",
        ]
    )
    func invalid(text: String) throws {
        #expect(try EventValidator.sample().check(Sent.ping(",\"id\":\"\(text)\"")).verdicts == [["invalid-id $.id"]])
    }

    @Test("is a UUID of version 7 with the time of arrival, if the event has none")
    func assigned() throws {
        let body =
            "[" + Array(repeating: Sent.ping(#","time":"2010-12-01T08:26:00Z""#), count: 1000).joined(separator: ",")
            + "]"
        let ids = try #require(try EventValidator.sample().check(body).batch).entries.map(\.id)
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(id.high >> 16 == 1_700_000_000_000)
            #expect(id.high >> 12 & 0xF == 7)
            #expect(id.low >> 62 == 2)
        }
    }

    func derived(_ text: String, source: String = "a.ndjson") throws -> [EventID] {
        try EventValidator.sample(identity: .derived(source: source)).check(text, as: .lines).batch?.entries.map(\.id)
            ?? []
    }

    @Test("is derived from a line: version 8, with the event's milliseconds in front")
    func derivedLayout() throws {
        let id = try #require(try derived(Sent.ping(#","time":"2010-12-01T08:26:00.1239Z""#)).first)
        #expect(id.high >> 16 == 1_291_191_960_123)
        #expect(id.high >> 12 & 0xF == 8)
        #expect(id.low >> 62 == 2)
    }

    @Test("is derived from the line, its number and its file, and the same each time")
    func derivedDigest() throws {
        let line = Sent.ping(#","time":"2010-12-01T08:26:00Z""#)
        let body = "\(line)\n\(line)\n\(line) \n"
        let ids = try derived(body)
        #expect(Set(ids).count == 3, "equal lines are different events, and so is another spelling")
        #expect(try derived(body) == ids)
        #expect(Set(ids + (try derived(body, source: "b.ndjson"))).count == 6)
        #expect(Set(ids.map { $0.high >> 16 }).count == 1)
    }

    @Test("is derived in the same way however the lines are split into bodies")
    func derivedInPieces() throws {
        let lines = (0..<20).map { Sent.ping(",\"userId\":\"\($0)\"") }
        let whole = try derived(lines.joined(separator: "\n"))
        let validator = EventValidator.sample(identity: .derived(source: "a.ndjson"))
        var pieces: [EventID] = []
        for piece in [lines[..<3], lines[3..<4], lines[4...]] {
            pieces += try #require(try validator.check(piece.joined(separator: "\n"), as: .lines).batch).entries.map(
                \.id
            )
        }
        #expect(pieces == whole)
    }

    /// The ids of lines that are checked in bodies of so many lines, derived from the content.
    private func ofContent(_ lines: [String], inPieces size: Int = .max) throws -> [EventID] {
        let validator = EventValidator.sample(identity: .derivedFromContent)
        var ids: [EventID] = []
        for start in stride(from: 0, to: lines.count, by: min(size, max(1, lines.count))) {
            let piece = lines[start..<min(lines.count, start + min(size, lines.count))]
            let body = piece.map { $0 + "\n" }.joined()
            ids += try validator.check(body, as: .lines).batch?.entries.map(\.id) ?? []
        }
        return ids
    }

    @Test(
        "is derived from the line and all lines before it, however they are split, and lines after it change nothing",
        .promise("derived-ids")
    )
    func derivedFromContent() throws {
        let line = Sent.ping()
        let stated = Sent.ping(#","id":"0190a2b4-abcd-4ef0-8000-000000000001""#)
        let day = [line, line, "", Sent.ping(#","userId":"1""#), "{", stated, line, Sent.ping(#","userId":"2""#)]
        let ids = try ofContent(day)
        #expect(Set(ids).count == 6, "equal lines of a file are different events")
        for size in 1...8 { #expect(try ofContent(day, inPieces: size) == ids) }
        for count in day.indices {
            let grown = try ofContent(Array(day[...count]))
            #expect(grown == Array(ids.prefix(grown.count)))
        }
        // Equal lines of another day's file, after its first line.
        let other = try ofContent([Sent.ping(#","userId":"3""#)] + day.dropFirst())
        #expect(Set(ids).intersection(other).map(\.description) == ["0190a2b4-abcd-4ef0-8000-000000000001"])
        // What a line that is rejected, or empty, contains counts, too.
        #expect(try ofContent([line, "[", line]).last != ids[1])
        #expect(ids.allSatisfy { $0.description.hasPrefix("0190") || $0.high >> 12 & 0xF == 8 && $0.low >> 62 == 2 })
    }

    @Test("has zeros in front if an event has no time, because its arrival differs each time")
    func derivedWithoutTime() throws {
        let id = try #require(try derived(Sent.ping()).first)
        #expect(id.high >> 16 == 0 && id.high >> 12 & 0xF == 8 && id.low >> 62 == 2)
        let later = EventValidator(
            catalog: .sample,
            identity: .derived(source: "a.ndjson"),
            now: { Timestamp(microseconds: 1_800_000_000_000_000) }
        )
        #expect(try later.check(Sent.ping(), as: .lines).batch?.entries.first?.id == id)
    }

    @Test("is not derived if the line states one")
    func statedInALine() throws {
        let id = "0190a2b4-abcd-4ef0-8000-000000000001"
        #expect(try derived(Sent.ping(",\"id\":\"\(id)\"")).map(\.description) == [id])
    }

    @Test("has zeros in front before 1970")
    func beforeTheEpoch() throws {
        #expect(try derived(Sent.ping(#","time":"1969-12-31T23:59:59.999Z""#)).map { $0.high >> 16 } == [0])
    }
}
