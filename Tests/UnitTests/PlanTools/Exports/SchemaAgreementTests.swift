import EventModel
import EventSchema
import EventValidation
import PlanTools
import TestCases
import Testing

/// The exported schemas and the validator must agree on the same events.
///
/// `SLUICE_PROPERTY_SEED=<seed>` repeats a run.
@Suite("The exported JSON Schema, evaluated by Python's jsonschema", .timeLimit(.minutes(5)))
struct SchemaAgreementTests {
    @Test("agrees with the validator on generated events, except for rules that no schema can express")
    func generatedEvents() throws {
        var source = CaseSource(seed: CaseSource.runSeed &+ 400)
        var agreement = try SchemaAgreement()
        for _ in 0..<120 {
            try agreement.use(GeneratedPlan.make(&source))
            for _ in 0..<25 { agreement.add(Self.event(of: agreement.plan, &source)) }
        }
        let reasons = try agreement.verify()
        // Almost all results must agree without an exception.
        for (reason, count) in reasons {
            #expect(count <= agreement.cases.count / 40, "\(count) of \(agreement.cases.count): \(reason.rawValue)")
        }
    }

    @Test("agrees with the validator on the example events and on slightly changed copies")
    func exampleEvents() throws {
        var source = CaseSource(seed: CaseSource.runSeed &+ 500)
        var agreement = try SchemaAgreement()
        try agreement.use(try OwnPlan.read())
        let examples = OwnPlan.exampleEvents(of: agreement.plan)
        try #require(examples.count == agreement.plan.events.count)
        for example in examples {
            agreement.add(example)
            for _ in 0..<25 { agreement.add(Self.mutated(example, &source)) }
        }
        try agreement.verify()
    }

    @Test("accepts every real event of a day, and the same changed copies as the validator")
    func realEvents() throws {
        var source = CaseSource(seed: CaseSource.runSeed &+ 600)
        var agreement = try SchemaAgreement()
        try agreement.use(try OwnPlan.read())
        let events = try OwnPlan.realEvents()
        #expect(events.count == 3108)
        for event in events { agreement.add(event) }
        #expect(agreement.cases.count { $0.isAccepted } == events.count)
        for _ in 0..<1000 { agreement.add(Self.mutated(source.pick(events), &source)) }
        try agreement.verify()
    }

    @Test("matches the same texts as RE2 for patterns of the plan")
    func generatedPatterns() throws {
        var source = CaseSource(seed: CaseSource.runSeed &+ 700)
        var agreement = try SchemaAgreement()
        for _ in 0..<12 {
            let patterns = (0..<30).map { _ in GeneratedPattern.make(&source) }
            try agreement.use(Self.plan(of: patterns))
            for index in patterns.indices {
                for _ in 0..<8 { agreement.add(Self.event("p\(index)", GeneratedPattern.text(&source))) }
            }
        }
        let reasons = try agreement.verify()
        #expect(reasons.isEmpty)
    }

    @Test(
        "a pattern that only RE2 supports is omitted, and the schema's comment says so",
        arguments: [#"^\pL+$"#, #"(?i)é"#, #"[\p{Greek}]"#, #"\C"#, #"a\B"#, #"(?i:[a-zé])"#]
    )
    func onlyRE2(pattern: String) {
        let text = JSONSchemaExport(Self.plan(of: [pattern])).envelope.text
        #expect(!text.contains(#""pattern": "^\\p"#))
        #expect(text.contains("Sluice also requires a match of this pattern, which only RE2 can express: "))
    }

    // MARK: Events

    private static func event(of plan: TrackingPlan, _ source: inout CaseSource) -> [UInt8] {
        var event = GeneratedEvent.make(of: plan, &source)
        // Most generated events violate a limit, so valid ones are added.
        let validator = EventValidator(catalog: EventCatalog(plan: plan))
        for _ in 0..<source.pick([0, 8]) {
            let text = SentText.of(event, allowsNewlines: false, &source)
            if SchemaAgreement.isAccepted(text, by: validator) { break }
            event = GeneratedEvent.make(of: plan, &source)
        }
        // Applied alone, because a parser that finds half a surrogate pair reports nothing else.
        if source.once(in: 12) {
            return halvingPair(in: SentText.of(event, allowsNewlines: true, &source), &source)
        }
        for _ in 0..<source.pick([0, 0, 0, 1, 2]) { event = EventMutation.mutate(event, &source) }
        let text = SentText.of(event, allowsNewlines: true, &source)
        return source.once(in: 12) ? EventMutation.damage(text, &source) : text
    }

    private static func mutated(_ text: [UInt8], _ source: inout CaseSource) -> [UInt8] {
        guard case .value(let event) = ReferenceParser.parse(text) else { return text }
        return SentText.of(EventMutation.mutate(event, &source), allowsNewlines: true, &source)
    }

    /// Inserts half a surrogate pair at the beginning or the end of a string.
    private static func halvingPair(in text: [UInt8], _ source: inout CaseSource) -> [UInt8] {
        let quotes = text.indices.filter { text[$0] == UInt8(ascii: "\"") }
        guard !quotes.isEmpty else { return text }
        var text = text
        let half = source.pick([#"\ud800"#, #"\uDFFF"#, #"\udc00\ud800"#])
        text.insert(contentsOf: Array(half.utf8), at: source.pick(quotes))
        return text
    }

    private static func plan(of patterns: [String]) -> TrackingPlan {
        let properties = patterns.enumerated().map { index, pattern in
            PropertyDefinition(
                name: "p\(index)",
                type: .string,
                isRequired: false,
                pattern: pattern,
                location: .line(index + 1)
            )
        }
        return TrackingPlan(events: [
            EventDefinition(key: "E", trackers: ["console"], properties: properties, location: .line(1))
        ])
    }

    private static func event(_ key: String, _ text: String) -> [UInt8] {
        var source = CaseSource(seed: 1)
        let payload = ReferenceJSON.object([GeneratedEvent.member(key, .text(text))])
        let event = ReferenceJSON.object([
            GeneratedEvent.member("name", .text("E")), GeneratedEvent.member("payload", payload),
        ])
        return SentText.of(event, allowsNewlines: false, &source)
    }
}
