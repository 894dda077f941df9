import EventSchema

/// A row of the judgement's table: what a kind of change means for each audience.
///
/// `EventDifference.judgements` and `PropertyDifference.judgements` hold the rows.
/// Documentation/Build/PlanChanges.md has the result for each of the cases that test it.
struct Judgement: Sendable {
    let kind: PlanChange.Kind
    /// Whether the row also applies to audiences that do not receive the event.
    let appliesWithoutAudience: Bool
    let swift: [JudgedCase]
    let http: [JudgedCase]
    let sql: [JudgedCase]
    let kafka: [JudgedCase]

    init(
        _ kind: PlanChange.Kind,
        appliesWithoutAudience: Bool = false,
        swift: [JudgedCase],
        http: [JudgedCase],
        sql: [JudgedCase],
        kafka: [JudgedCase]
    ) {
        self.kind = kind
        self.appliesWithoutAudience = appliesWithoutAudience
        self.swift = swift
        self.http = http
        self.sql = sql
        self.kafka = kafka
    }

    /// The impacts of the first case of each audience whose conditions hold.
    func impacts(in circumstances: Circumstances) -> Impacts {
        let hasRows = appliesWithoutAudience || circumstances.contains(.hasRows)
        let hasReaders = appliesWithoutAudience || circumstances.contains(.hasReaders)
        return Impacts(
            swift: impact(of: swift, in: circumstances),
            http: impact(of: http, in: circumstances),
            sql: hasRows
                ? impact(of: sql, in: circumstances) : .compatible("no table has rows of the event"),
            kafka: hasReaders
                ? impact(of: kafka, in: circumstances) : .compatible("nobody reads the event's lines")
        )
    }

    private func impact(of cases: [JudgedCase], in circumstances: Circumstances) -> Impact {
        guard let match = cases.first(where: { $0.applies(in: circumstances) }) else {
            preconditionFailure("the judgement of \(kind) has no case without conditions")
        }
        return match.impact
    }
}

/// What a change means for one audience if its conditions hold.
struct JudgedCase: Sendable {
    let impact: Impact
    /// All of these must hold, and none of `exceptions`.
    let conditions: Circumstances
    let exceptions: Circumstances

    func applies(in circumstances: Circumstances) -> Bool {
        circumstances.isSuperset(of: conditions) && circumstances.isDisjoint(with: exceptions)
    }

    static func compatible(
        _ reason: String,
        if conditions: Circumstances = [],
        unless exceptions: Circumstances = []
    ) -> JudgedCase {
        JudgedCase(impact: .compatible(reason), conditions: conditions, exceptions: exceptions)
    }

    static func risky(
        _ reason: String,
        if conditions: Circumstances = [],
        unless exceptions: Circumstances = []
    ) -> JudgedCase {
        JudgedCase(impact: .risky(reason), conditions: conditions, exceptions: exceptions)
    }

    static func breaking(
        _ reason: String,
        if conditions: Circumstances = [],
        unless exceptions: Circumstances = []
    ) -> JudgedCase {
        JudgedCase(impact: .breaking(reason), conditions: conditions, exceptions: exceptions)
    }
}

extension [Judgement] {
    /// The row of a kind of change.
    func row(for kind: PlanChange.Kind) -> Judgement {
        guard let row = first(where: { $0.kind == kind }) else {
            preconditionFailure("no judgement is stated for \(kind)")
        }
        return row
    }
}

// MARK: - Rows of events and properties

extension Judgement {
    /// Text for people.
    static func words(_ kind: PlanChange.Kind) -> Judgement {
        let reason = "it is for people; no check uses it"
        let comment = "`sluice migrate` updates the comment in the database"
        let sql: [JudgedCase] =
            kind == .descriptionChanged
            ? [.compatible(comment, if: .isEvent), .compatible(comment, if: .isColumn), .compatible(reason)]
            : [.compatible(reason)]
        return Judgement(
            kind,
            swift: [.compatible(reason)],
            http: [.compatible(reason)],
            sql: sql,
            kafka: [.compatible(reason)]
        )
    }

    static let deprecation: Judgement = {
        let unchanged = [JudgedCase.compatible("it is accepted and passed on as before")]
        return Judgement(
            .deprecated,
            swift: [.risky("callers get a warning, which is an error where warnings are errors")],
            http: unchanged,
            sql: unchanged,
            kafka: unchanged
        )
    }()

    static let swiftName: Judgement = {
        let others = [JudgedCase.compatible("only generated Swift uses the name")]
        return Judgement(
            .swiftNameChanged,
            swift: [.breaking(otherSwiftName)],
            http: others,
            sql: others,
            kafka: others
        )
    }()

    static let otherSwiftName = "the name changes: code that uses the old name does not compile"
}
