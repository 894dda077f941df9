import EventJournal
import EventValidation
import PipelineTestSupport
import TestCases
import TestPromises
import Testing

@Suite("A limit on the bytes of one batch")
struct BatchLimitTests {
    private static func bodies(events: Int) -> [(body: String, format: BodyFormat)] {
        let pings = Array(repeating: Sent.ping(), count: events)
        // Elements are checked one by one if one of them is malformed JSON.
        let broken = ["{,}"] + pings
        return [pings, broken].map { ("[" + $0.joined(separator: ",") + "]", .document) }
            + [(pings.joined(separator: "\n"), .lines)]
    }

    private static func byteCount(events: Int) throws -> Int {
        let all = Array(repeating: Sent.ping(), count: events).joined(separator: "\n")
        return try #require(EventValidator(catalog: .sample).check(all, as: .lines).batch).byteCount
    }

    @Test("accepts a body whose events take exactly this number of bytes")
    func within() throws {
        let validator = EventValidator(catalog: .sample, maximumBatchBytes: try Self.byteCount(events: 10))
        for (body, format) in Self.bodies(events: 10) {
            #expect(try validator.check(body, as: format).batch?.count == 10)
        }
    }

    @Test(
        "refuses a body with one more event as a whole, with a verdict that says so, and does not affect the next body",
        .promise("large-bodies")
    )
    func beyond() throws {
        let limit = try Self.byteCount(events: 10)
        let validator = EventValidator(catalog: .sample, maximumBatchBytes: limit)
        for (body, format) in Self.bodies(events: 11) {
            let error = #expect(throws: MalformedBody.self) { _ = try validator.check(body, as: format) }
            let expected = "a body whose events take at most \(limit) bytes in canonical form"
            #expect(error?.violation.summary == "too-large $: \(expected) / more")
            #expect(try validator.check(Sent.ping()).batch?.count == 1)
        }
    }

    @Test("is the size of the journal's largest commit, and far below the range of a batch's offsets")
    func fits() throws {
        let configuration = JournalConfiguration(minimumFreeBytes: 0)
        var writer = JournalWriter(try Journal(SimulatedFileSystem(seed: 1), configuration: configuration, now: 0))
        let largest = [UInt8](repeating: UInt8(ascii: "x"), count: EventBatchBuilder.maximumBytes)
        #expect(try writer.commit(lines: largest, count: 1, now: 0) == 0)
        let error = #expect(throws: JournalError.self) {
            _ = try writer.commit(lines: largest + [UInt8(ascii: "x")], count: 1, now: 0)
        }
        #expect(error?.code == .tooLarge)
        #expect(largest.count < Int(UInt32.max) / 2)
    }
}
