import EventValidation
import TestCases
import TestPromises
import Testing

@Suite("A limit on the rejections that are explained")
struct RejectionBoundTests {
    static func validator(explaining maximum: Int) -> EventValidator {
        EventValidator(catalog: .sample, maximumRejections: 10_000, maximumExplained: maximum, now: { Sent.arrival })
    }

    static let twoMistakes = #"{"name":"Nothing","userId":1}"#

    @Test("gives all reasons for the first rejections, and only the first reason for the others", arguments: [0, 2, 5])
    func explained(maximum: Int) throws {
        for body in RejectionLimitTests.bodies(rejections: 5).map(\.body) {
            let broken = body.replacing("{}", with: Self.twoMistakes)
            let format: BodyFormat = body.hasPrefix("[") ? .document : .lines
            let checked = try Self.validator(explaining: maximum).check(broken, as: format)
            let isOneReason = body.contains("{,}")
            #expect(checked.explainedCount == maximum)
            #expect(checked.rejections.map(\.index) == Array(0..<5))
            let reasons = (0..<5).map { $0 < maximum && !isOneReason ? 2 : 1 }
            #expect(checked.rejections.map(\.violations.count) == reasons)
            #expect(checked.rejected.count == 5)
            #expect(checked.rejected.indexes == [0...4])
            #expect(checked.rejected.codes == [isOneReason ? .malformedJSON : .unknownEvent: 5])
        }
    }

    @Test(
        "keeps rejections up to the size of the body and 64 KiB, and counts the rest",
        .promise("many-invalid-events")
    )
    func kept() throws {
        let event = #"{"name":"Nothing"}"#
        let body = "[" + Array(repeating: event, count: 9990).joined(separator: ",") + "]"
        let checked = try Self.validator(explaining: 100).check(body)
        #expect(checked.rejected.count == 9990)
        #expect(checked.rejected.indexes == [0...9989])
        #expect(checked.explainedCount == 100)
        // The quarantine stores each rejection with four additional bytes.
        #expect(checked.rejections.count == 9990)
        #expect(checked.rejections.reduce(0) { $0 + $1.original.count + 4 } <= body.utf8.count + 64 << 10)
        #expect(checked.rejections.dropFirst(100).allSatisfy { $0.violations.count == 1 })
        #expect(checked.rejections.last?.original == Array(event.utf8))
    }

    @Test("only counts rejections that the quarantine would not store")
    func beyond() throws {
        let body = Array(repeating: "5", count: 40_000).joined(separator: "\n")
        let validator = EventValidator(catalog: .sample, maximumExplained: 100, now: { Sent.arrival })
        let checked = try validator.check(body, as: .lines)
        #expect(checked.rejected.count == 40_000)
        let room = body.utf8.count + 64 << 10
        #expect(checked.rejections.count == room / 5)
    }

    @Test("gives at most 256 KiB of reasons, however long their paths are")
    func longPaths() throws {
        let key = String(repeating: "k", count: 64)
        let deep = String(repeating: "{\"\(key)\":", count: 60) + "\"\\u0000\"" + String(repeating: "}", count: 60)
        let tenMistakes = Sent.open((0..<10).map { "\"\($0)\":\(deep)" }.joined(separator: ","))
        let body = "[" + Array(repeating: tenMistakes, count: 6).joined(separator: ",") + "]"
        let many = Array(repeating: tenMistakes, count: 20).joined(separator: "\n")
        for (body, format) in [(body, BodyFormat.document), (many, .lines)] {
            let checked = try Self.validator(explaining: 100).check(body, as: format)
            let explained = checked.rejections.prefix(checked.explainedCount)
            #expect(explained.allSatisfy { $0.violations.count == 10 })
            let bytes = explained.dropLast().flatMap(\.violations).reduce(0) { $0 + $1.path.utf8.count }
            #expect(bytes <= 256 << 10)
            #expect(checked.keptBytes <= body.utf8.count + (64 << 10) + 2 * (256 << 10))
        }
    }

    @Test("gives the indexes of all rejected events")
    func indexes() throws {
        let events = (0..<1000).map { $0 % 5 < 2 ? "{}" : Sent.ping() }
        for (body, format) in [
            ("[" + events.joined(separator: ",") + "]", BodyFormat.document), (events.joined(separator: "\n"), .lines),
        ] {
            let checked = try Self.validator(explaining: 1).check(body, as: format)
            #expect(checked.rejected.indexes == (0..<200).map { 5 * $0...5 * $0 + 1 })
            #expect(checked.rejected.codes == [.missingRequired: 400])
            #expect(checked.batch?.count == 600)
        }
    }
}
