import EventModel
import EventPipeline
import EventSchema
import Testing

/// The diff is held against the validator: what it calls compatible is accepted.
///
/// `SLUICE_PROPERTY_SEED=<seed>` has a run again.
@Suite("The diff and the validator")
struct PlanDiffAgreementTests {
    @Test("an event that the old plan takes and the new one rejects is never called compatible", arguments: 0..<4)
    func rejections(part: Int) throws {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        var rejections = 0
        for _ in 0..<150 {
            let old = GeneratedPlan.make(&source)
            var new = old
            for _ in 0..<source.number(1...2) { new = PlanMutation.mutate(new, &source) }
            let concerned = PlanDiff(from: old, to: new).changes.filter { $0.impacts.http.compatibility > .compatible }
            let before = EventValidator(catalog: EventCatalog(plan: old), now: { Self.arrival })
            let after = EventValidator(catalog: EventCatalog(plan: new), now: { Self.arrival })
            for _ in 0..<20 {
                let event = SentText.of(GeneratedEvent.make(of: old, &source), allowsNewlines: false, &source)
                guard Self.isTaken(event, by: before), !Self.isTaken(event, by: after) else { continue }
                rejections += 1
                let text = String(decoding: event, as: UTF8.self)
                #expect(!concerned.isEmpty, "seed \(seed): \(text) is rejected by \(new), and was not by \(old)")
            }
        }
        // Else nothing was tried.
        #expect(rejections > 20)
    }

    @Test("a plan has no difference from itself, and some from every other", arguments: 0..<4)
    func identity(part: Int) {
        var source = CaseSource(seed: CaseSource.runSeed &+ UInt64(part))
        for _ in 0..<50 {
            let plan = GeneratedPlan.make(&source)
            #expect(PlanDiff(from: plan, to: plan).changes == [])
            let other = PlanMutation.mutate(plan, &source)
            if other != plan { #expect(PlanDiff(from: plan, to: other).changes != [], "\(plan) and \(other)") }
        }
    }

    private static let arrival = Timestamp(microseconds: 1_700_000_000_123_456)

    private static func isTaken(_ event: [UInt8], by validator: EventValidator) -> Bool {
        if case .accepted = AgreementTests.Outcome(of: event, by: validator) { return true }
        return false
    }
}
