import EventModel
import EventSchema
import EventValidation
import TestCases
import Testing

/// Both implementations check the same plans and events, and must give the same result.
///
/// `SLUICE_PROPERTY_SEED=<seed>` repeats a run.
@Suite("The validator and a simple reference implementation", .serialized)
struct AgreementTests {
    static let arrival = Timestamp(microseconds: 1_700_000_000_123_456)

    @Test("agree on single events", arguments: 0..<8)
    func singleEvents(part: Int) {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        for _ in 0..<40 {
            let plan = GeneratedPlan.make(&source)
            let validator = EventValidator(catalog: EventCatalog(plan: plan), now: { Self.arrival })
            for _ in 0..<12 {
                let text = Self.event(of: plan, allowsNewlines: true, mayBeDamaged: true, &source)
                // An array is many events; they have a test of their own.
                if text.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") { continue }
                let outcome = ValidatorOutcome(of: text, by: validator)
                let wanted = ReferenceCheck.check(text, plan: plan, outcome)
                guard outcome.agrees(with: wanted, isDocument: true) else {
                    Issue.record("\(Self.report(text, seed)): \(outcome) but wanted \(wanted)")
                    return
                }
            }
        }
    }

    @Test("agree on lines and on arrays", arguments: [BodyFormat.lines, .document])
    func manyEvents(format: BodyFormat) {
        let seed = CaseSource.runSeed &+ (format == .lines ? 100 : 200)
        var source = CaseSource(seed: seed)
        for _ in 0..<30 {
            let plan = GeneratedPlan.make(&source)
            let validator = EventValidator(catalog: EventCatalog(plan: plan), now: { Self.arrival })
            let events = (0..<source.number(1...16)).map { _ in
                Self.event(of: plan, allowsNewlines: false, mayBeDamaged: format == .lines, &source)
            }
            .filter { format == .document || $0.contains { !" \t\r".utf8.contains($0) } }
            guard Self.agree(on: events, format, plan, validator, seed) else { return }
        }
    }

    @Test("make the same batch of accepted lines, whether they are checked again or not")
    func acceptedLines() throws {
        var source = CaseSource(seed: CaseSource.runSeed &+ 400)
        var compared = 0
        for _ in 0..<30 {
            let catalog = EventCatalog(plan: GeneratedPlan.make(&source))
            let validator = EventValidator(catalog: catalog, now: { Self.arrival })
            let events = (0..<source.number(1...16)).map { _ in
                Self.event(of: catalog.plan, allowsNewlines: false, mayBeDamaged: false, &source)
            }
            guard let batch = try validator.check(bytes: Array(events.joined(separator: [10])), as: .lines).batch else {
                continue
            }
            let names = batch.entries.map { catalog.definitions[Int($0.definitionIndex)].name }
            let hasEscapes = names.contains { JSONString.quoted($0) != "\"\($0)\"" }
            guard let again = EventBatch(accepted: batch.lines, of: catalog) else {
                #expect(hasEscapes)
                continue
            }
            #expect(again.lines.elementsEqual(batch.lines))
            #expect(again.entries.map(\.id) == batch.entries.map(\.id))
            #expect(again.entries.map(\.time) == batch.entries.map(\.time))
            #expect(again.entries.map(\.definitionIndex) == batch.entries.map(\.definitionIndex))
            #expect(again.entries.map(\.end) == batch.entries.map(\.end))
            compared += 1
        }
        #expect(compared > 5)
    }

    @Test("agree on an array that is parsed element by element")
    func largeArray() {
        let seed = CaseSource.runSeed &+ 300
        var source = CaseSource(seed: seed)
        let plan = GeneratedPlan.make(&source)
        let validator = EventValidator(catalog: EventCatalog(plan: plan), now: { Self.arrival })
        var events: [[UInt8]] = []
        while events.reduce(0, { $0 + $1.count }) < 300_000 {
            events.append(Self.event(of: plan, allowsNewlines: true, mayBeDamaged: false, &source))
        }
        _ = Self.agree(on: events, .document, plan, validator, seed)
    }

    private static func agree(
        on events: [[UInt8]],
        _ format: BodyFormat,
        _ plan: TrackingPlan,
        _ validator: EventValidator,
        _ seed: UInt64
    ) -> Bool {
        let isLines = format == .lines
        let inner = Array(events.joined(separator: Array((isLines ? "\n" : ",").utf8)))
        let body = isLines ? inner : Array("[".utf8) + inner + Array("]".utf8)
        guard let checked = try? validator.check(bytes: body, as: format) else {
            Issue.record("\(report(body, seed)): no JSON")
            return false
        }
        let outcomes = ValidatorOutcome.each(of: checked)
        guard outcomes.count == events.count else {
            Issue.record("\(report(body, seed)): \(outcomes.count) outcomes for \(events.count) events")
            return false
        }
        for (text, outcome) in zip(events, outcomes) {
            let wanted = ReferenceCheck.check(text, plan: plan, outcome)
            guard outcome.agrees(with: wanted, isDocument: false) else {
                Issue.record("\(report(text, seed)): \(outcome) but wanted \(wanted)")
                return false
            }
        }
        return true
    }

    private static func event(
        of plan: TrackingPlan,
        allowsNewlines: Bool,
        mayBeDamaged: Bool,
        _ source: inout CaseSource
    ) -> [UInt8] {
        var event = GeneratedEvent.make(of: plan, &source)
        for _ in 0..<source.pick([0, 0, 1, 1, 2, 5]) { event = EventMutation.mutate(event, &source) }
        var text = SentText.of(event, allowsNewlines: allowsNewlines, &source)
        if mayBeDamaged, source.once(in: 8) { text = EventMutation.damage(text, &source) }
        return allowsNewlines ? text : text.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
    }

    private static func report(_ text: [UInt8], _ seed: UInt64) -> String {
        "run seed \(CaseSource.runSeed) (\(CaseSource.seedVariable)), seed \(seed): "
            + String(decoding: text.prefix(4000), as: UTF8.self).debugDescription
    }
}

extension ReferenceCheck {
    fileprivate static func check(_ text: [UInt8], plan: TrackingPlan, _ outcome: ValidatorOutcome) -> Outcome {
        check(text, plan: plan, arrival: AgreementTests.arrival.description, assignedID: outcome.id)
    }
}
