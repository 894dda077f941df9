import EventModel
import EventPipeline
import EventSchema
import Foundation
import Testing

/// The exported schemas and the check at the door are given the same events, and must say the same.
///
/// `SLUICE_PROPERTY_SEED=<seed>` has a run again.
@Suite("JSON Schema, as Python's jsonschema reads it", .timeLimit(.minutes(5)))
struct SchemaAgreementTests {
    /// An event, and what the check says of it.
    private struct Case {
        let text: [UInt8]
        let plan: TrackingPlan
        let isAccepted: Bool
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("says of every generated event what the check says, but for what no schema can say")
    func generatedEvents() throws {
        var source = CaseSource(seed: CaseSource.runSeed &+ 400)
        var judge = try SchemaJudge()
        var cases: [Case] = []
        for _ in 0..<80 {
            let plan = GeneratedPlan.make(&source)
            try judge.use(plan)
            let validator = EventValidator(catalog: EventCatalog(plan: plan))
            for _ in 0..<30 {
                let text = Self.event(of: plan, &source)
                // An array is many events, and a schema is of one.
                if text.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") { continue }
                judge.add(text)
                cases.append(Case(text: text, plan: plan, isAccepted: Self.isAccepted(text, by: validator)))
            }
        }
        let verdicts = try judge.verdicts()
        try #require(verdicts.count == cases.count)
        var reasons: [Inexpressible: Int] = [:]
        for (sent, verdict) in zip(cases, verdicts) {
            if verdict.envelope == sent.isAccepted, verdict.event ?? sent.isAccepted == sent.isAccepted { continue }
            let explained = Inexpressible.reasons(in: sent.text, sent.plan)
            #expect(!explained.isEmpty, "\(Self.report(sent, verdict))")
            // What one of the two schemas can say, so can the other.
            #expect(verdict.event == nil || verdict.event == verdict.envelope, "\(Self.report(sent, verdict))")
            for reason in Set(explained) { reasons[reason, default: 0] += 1 }
        }
        // That there are good and bad ones, and that next to nothing is excused.
        let accepted = cases.count { $0.isAccepted }
        #expect(accepted > cases.count / 5 && accepted < cases.count * 4 / 5, "\(accepted) of \(cases.count)")
        for (reason, count) in reasons { #expect(count < cases.count / 40, "\(count) of \(cases.count): \(reason)") }
        print(reasons, cases.count, accepted)
    }

    private static func event(of plan: TrackingPlan, _ source: inout CaseSource) -> [UInt8] {
        var event = GeneratedEvent.make(of: plan, &source)
        for _ in 0..<source.pick([0, 0, 0, 1, 1, 2]) { event = EventMutation.mutate(event, &source) }
        var text = SentText.of(event, allowsNewlines: true, &source)
        if source.once(in: 12) { text = halvingPair(in: text, &source) }
        if source.once(in: 12) { text = EventMutation.damage(text, &source) }
        return text
    }

    /// Puts half a surrogate pair before the end of a string.
    private static func halvingPair(in text: [UInt8], _ source: inout CaseSource) -> [UInt8] {
        let quotes = text.indices.filter { text[$0] == UInt8(ascii: "\"") }
        guard !quotes.isEmpty else { return text }
        var text = text
        text.insert(contentsOf: Array(source.pick([#"\ud800"#, #"\uDFFF"#, #"\udc00\ud800"#]).utf8), at: source.pick(quotes))
        return text
    }

    private static func isAccepted(_ text: [UInt8], by validator: EventValidator) -> Bool {
        (try? validator.check(bytes: text))?.rejections.isEmpty == true
    }

    private static func report(_ sent: Case, _ verdict: SchemaJudge.Verdict) -> String {
        "run seed \(CaseSource.runSeed) (\(CaseSource.seedVariable)): the check \(sent.isAccepted ? "takes" : "refuses"), "
            + "\(verdict): \(String(decoding: sent.text.prefix(4000), as: UTF8.self).debugDescription)"
    }
}
