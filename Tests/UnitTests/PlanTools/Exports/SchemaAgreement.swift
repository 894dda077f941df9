import EventSchema
import EventValidation
import TestCases
import Testing

/// Events, what the check at the door says of each, and what the schemas say.
struct SchemaAgreement {
    /// An event, and what the check says of it.
    struct Case {
        let text: [UInt8]
        let plan: TrackingPlan
        let isAccepted: Bool
    }

    private(set) var plan = TrackingPlan(events: [])
    private(set) var cases: [Case] = []
    private var judge: SchemaJudge
    private var validator = EventValidator(catalog: EventCatalog(plan: TrackingPlan(events: [])))

    init() throws {
        judge = try SchemaJudge()
    }

    /// The events that follow are held against this plan.
    mutating func use(_ plan: TrackingPlan) throws {
        self.plan = plan
        validator = EventValidator(catalog: EventCatalog(plan: plan))
        try judge.use(plan)
    }

    mutating func add(_ text: [UInt8]) {
        // An array is many events, and a schema is of one.
        if text.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") { return }
        judge.add(text)
        cases.append(Case(text: text, plan: plan, isAccepted: Self.isAccepted(text, by: validator)))
    }

    static func isAccepted(_ text: [UInt8], by validator: EventValidator) -> Bool {
        (try? validator.check(bytes: text))?.rejections.isEmpty == true
    }

    /// Records an issue for each event on which the two differ without a reason, and counts the others by their
    /// reasons.
    @discardableResult
    func verify(sourceLocation: SourceLocation = #_sourceLocation) throws -> [Inexpressible: Int] {
        let verdicts = try judge.verdicts()
        try #require(verdicts.count == cases.count, sourceLocation: sourceLocation)
        // Good and bad ones must be among them, or the two could agree by always saying the same.
        let accepted = cases.count { $0.isAccepted }
        #expect(accepted > cases.count / 40 && accepted < cases.count, "\(accepted) of \(cases.count)")
        var reasons: [Inexpressible: Int] = [:]
        for (sent, verdict) in zip(cases, verdicts) {
            // The schema of all events and that of the one differ never.
            let isOne = verdict.event == nil || verdict.event == verdict.envelope
            if isOne, verdict.envelope == sent.isAccepted { continue }
            let explained = Set(Inexpressible.reasons(in: sent.text, sent.plan))
            guard isOne, !explained.isEmpty else {
                Issue.record("\(Self.report(sent, verdict))", sourceLocation: sourceLocation)
                continue
            }
            for reason in explained { reasons[reason, default: 0] += 1 }
        }
        return reasons
    }

    private static func report(_ sent: Case, _ verdict: SchemaJudge.Verdict) -> String {
        """
        run seed \(CaseSource.runSeed) (\(CaseSource.seedVariable)): \
        the check \(sent.isAccepted ? "takes" : "refuses"), \(verdict): \(String(decoding: sent.text.prefix(4000), as: UTF8.self).debugDescription)
        patterns: \(sent.plan.events.flatMap(\.properties).map { "\($0.name) \($0.pattern ?? "-")" })
        """
    }
}
