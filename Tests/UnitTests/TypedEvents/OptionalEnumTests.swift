import EventValidation
import GoldenNames
import TestCases
import Testing

@Suite("Optional enums")
struct OptionalEnumTests {
    @Test(
        "each value is encoded, even if it is called none or some",
        arguments: NamesEvents.WordsKept.Plan.allCases
    )
    func sent(plan: NamesEvents.WordsKept.Plan) throws {
        var builder = EventBatchBuilder(catalog: NamesEvents.catalog)
        try builder.append(NamesEvents.WordsKept(plan: plan))
        let finished = builder.finish()
        let batch = try #require(finished)
        let line = Swift.String(decoding: Swift.Array(batch.line(at: 0)), as: UTF8.self)
        #expect(line.contains(#""payload":{"plan":"\#(plan.rawValue)"}"#), "\(line)")
    }

    @Test("none and some are not case names, because they would be the optional's cases")
    func names() {
        let absent: NamesEvents.WordsKept.Plan? = .none
        #expect(absent == nil)
        #expect(NamesEvents.WordsKept.Plan.allCases.map { "\($0)" } == ["none_", "some_", "basic"])
    }
}
