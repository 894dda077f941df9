import EventModel
import EventSchema
import EventValidation
import PlanTools
import TestCases
import Testing

/// Compares the diff with the validator: events that a compatible change affects must still be accepted.
///
/// `SLUICE_PROPERTY_SEED=<seed>` repeats a run.
@Suite("The diff and the validator")
struct PlanDiffAgreementTests {
    /// The minimum number of rounds.
    private static let rounds = 100
    /// How often the tested case must occur; a test runs more rounds until it does, up to a hundred times as many.
    private static let enough = 20

    private static func isOver(_ round: Int, found: Int) -> Bool {
        round >= rounds && (found >= enough || round >= 100 * rounds)
    }

    @Test("a change that rejects an event the old plan accepted is never called compatible", arguments: 0..<4)
    func rejections(part: Int) throws {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        var (round, rejections) = (0, 0)
        while !Self.isOver(round, found: rejections) {
            round += 1
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
        #expect(rejections >= Self.enough)
    }

    @Test("a plan has no difference from itself, and one from every plan with another meaning", arguments: 0..<4)
    func identity(part: Int) {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        var (round, differences) = (0, 0)
        while !Self.isOver(round, found: differences) {
            round += 1
            let plan = GeneratedPlan.make(&source)
            #expect(PlanDiff(from: plan, to: plan).changes == [], "seed \(seed)")
            let other = PlanMutation.mutate(plan, &source)
            let isDifferent = Self.withoutNeutralLimits(plan) != Self.withoutNeutralLimits(other)
            differences += isDifferent ? 1 : 0
            let changes = PlanDiff(from: plan, to: other).changes
            #expect(changes.isEmpty != isDifferent, "seed \(seed): \(plan) and \(other)")
        }
        #expect(differences >= Self.enough)
    }

    @Test("the name of a PostgreSQL tracker does not affect the impact of changes", arguments: 0..<4)
    func trackerNames(part: Int) {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        var (round, concerned) = (0, 0)
        while !Self.isOver(round, found: concerned) {
            round += 1
            let old = GeneratedPlan.make(&source)
            var new = old
            for _ in 0..<source.number(1...2) { new = PlanMutation.mutate(new, &source) }
            func impacts(_ tracker: String) -> [Impacts] {
                PlanDiff(from: Self.plan(old, goingTo: tracker), to: Self.plan(new, goingTo: tracker)).changes
                    .map(\.impacts)
            }
            let tables = impacts("postgres")
            #expect(tables == impacts("Warehouse"), "seed \(seed): \(old) and \(new)")
            if tables.contains(where: { $0.sql.compatibility > .compatible }) { concerned += 1 }
        }
        #expect(concerned >= Self.enough)
    }

    @Test("a change of an enum's cases breaks Swift callers that switch over them", arguments: 0..<4)
    func switches(part: Int) {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        let values = ["s", "m", "l", "xl", "a\u{301}"].map(PlanValue.string)
        var (round, differences) = (0, 0)
        while !Self.isOver(round, found: differences) {
            round += 1
            var old = GeneratedPlan.make(&source)
            var size = PropertyDefinition(name: "size", type: .string, location: .line(1))
            size.enumeration = Array(values.shuffled(using: &source).prefix(source.number(1...4)))
            old.events[0].properties.append(size)
            var new = old
            size.enumeration = Array(values.shuffled(using: &source).prefix(source.number(1...4)))
            new.events[0].properties[old.events[0].properties.count - 1] = size
            let cases = [old, new].map { Set($0.events[0].properties.last?.enumeration ?? []) }
            let breaks = PlanDiff(from: old, to: new).changes.contains {
                $0.property == "size" && $0.impacts.swift.compatibility == .breaking
            }
            #expect(breaks == (cases[0] != cases[1]), "seed \(seed): \(cases)")
            differences += cases[0] != cases[1] ? 1 : 0
        }
        #expect(differences >= Self.enough)
    }

    /// The plan with all events going to one tracker, which writes to tables.
    private static func plan(_ plan: TrackingPlan, goingTo tracker: String) -> TrackingPlan {
        var plan = plan
        for index in plan.events.indices {
            plan.events[index].trackers = [tracker]
            plan.events[index].postgresTrackers = [tracker.lowercased()]
        }
        return plan
    }

    /// The plan without limits that limit nothing: a minimum length of 0.
    private static func withoutNeutralLimits(_ plan: TrackingPlan) -> TrackingPlan {
        var plan = plan
        for index in plan.events.indices {
            plan.events[index].properties = plan.events[index].properties.map { withoutNeutralLimits($0) }
        }
        return plan
    }

    private static func withoutNeutralLimits(_ original: PropertyDefinition) -> PropertyDefinition {
        var property = original
        if property.minLength == 0 { property.minLength = nil }
        property.items = original.items.map { withoutNeutralLimits($0) }
        property.properties = original.properties?.map { withoutNeutralLimits($0) }
        return property
    }

    private static let arrival = Timestamp(microseconds: 1_700_000_000_123_456)

    private static func isTaken(_ event: [UInt8], by validator: EventValidator) -> Bool {
        if case .accepted = ValidatorOutcome(of: event, by: validator) { return true }
        return false
    }
}
