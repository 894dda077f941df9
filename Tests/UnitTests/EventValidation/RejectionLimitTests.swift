import EventValidation
import TestCases
import Testing

@Suite("A limit on the rejections of one body")
struct RejectionLimitTests {
    let validator = EventValidator(catalog: .sample, maximumRejections: 3, now: { Sent.arrival })

    static func bodies(rejections: Int) -> [(body: String, format: BodyFormat)] {
        let events = Array(repeating: "{}", count: rejections) + [Sent.ping()]
        // Elements are checked one by one if one of them is malformed JSON, or if the body exceeds 256 KiB.
        let broken = Array(repeating: "{,}", count: rejections) + [Sent.ping()]
        let large = events + [Sent.open("\"x\":\"\(String(repeating: "x", count: 300 << 10))\"")]
        return [events, broken, large].map { ("[" + $0.joined(separator: ",") + "]", .document) }
            + [(events.joined(separator: "\n"), .lines)]
    }

    @Test("accepts a body with exactly this number")
    func within() throws {
        for (body, format) in Self.bodies(rejections: 3) {
            let checked = try validator.check(body, as: format)
            #expect(checked.rejections.count == 3)
            #expect(checked.batch != nil)
        }
    }

    @Test("refuses a body with one more as a whole, and does not affect the next body")
    func beyond() throws {
        for (body, format) in Self.bodies(rejections: 4) {
            let error = #expect(throws: MalformedBody.self) { _ = try validator.check(body, as: format) }
            #expect(error?.violation.summary == "too-large $: at most 3 events that do not follow the plan / more")
            #expect(try validator.check("[{},\(Sent.ping())]").count == 2)
        }
    }

    @Test("counts further rejections if the body is not to be refused, also in turns", arguments: [1, 2, Int.max])
    func counting(rejectionsATurn: Int) throws {
        for (body, format) in Self.bodies(rejections: 5) {
            var progress = validator.begin(bodyOf: body.utf8.count, as: format, excess: .isCounted)
            try Array(body.utf8).withUnsafeBytes { bytes in
                var budget = CheckBudget(bytes: .max, rejections: rejectionsATurn)
                while try !validator.check(bytes, from: &progress, within: &budget) {
                    budget = CheckBudget(bytes: .max, rejections: rejectionsATurn)
                }
            }
            let checked = validator.finish(progress)
            #expect(checked.rejections.count == 3)
            #expect(checked.rejected.count == 5)
            #expect(checked.rejected.indexes == [0...2])
            #expect(checked.batch != nil)
        }
    }
}
