import EventSchema
import EventValidation
import TestCases
import Testing

/// Compares the results of the validator and of the exported schemas for the same events.
struct SchemaAgreement {
    /// An event, and whether the validator accepts it.
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

    /// Sets the plan for the following events.
    mutating func use(_ plan: TrackingPlan) throws {
        self.plan = plan
        validator = EventValidator(catalog: EventCatalog(plan: plan))
        try judge.use(plan)
    }

    mutating func add(_ text: [UInt8]) {
        // An array holds many events, and a schema describes one.
        if text.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") { return }
        judge.add(text)
        cases.append(Case(text: text, plan: plan, isAccepted: Self.isAccepted(text, by: validator)))
    }

    static func isAccepted(_ text: [UInt8], by validator: EventValidator) -> Bool {
        (try? validator.check(bytes: text))?.rejections.isEmpty == true
    }

    /// Records an issue for each unexplained difference, and counts the explained ones by their reason.
    @discardableResult
    func verify(sourceLocation: SourceLocation = #_sourceLocation) throws -> [Inexpressible: Int] {
        let verdicts = try judge.verdicts()
        try #require(verdicts.count == cases.count, sourceLocation: sourceLocation)
        // Both valid and invalid events must occur, or constant results would agree, too.
        let accepted = cases.count { $0.isAccepted }
        #expect(accepted > cases.count / 40 && accepted < cases.count, "\(accepted) of \(cases.count)")
        var reasons: [Inexpressible: Int] = [:]
        for (sent, verdict) in zip(cases, verdicts) {
            // The schema of all events and that of the named event must agree.
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
