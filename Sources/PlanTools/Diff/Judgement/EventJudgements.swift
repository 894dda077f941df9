import EventSchema

/// The impact of each kind of change of an event.
extension EventDifference {
    /// The difference with what it means for each audience.
    var judged: PlanChange {
        PlanChange(
            kind: kind,
            event: new.name,
            property: nil,
            sentence: sentence,
            location: new.location,
            impacts: Self.judgements.row(for: kind).impacts(in: circumstances)
        )
    }

    static let judgements: [Judgement] = [
        Judgement(
            .eventAdded,
            swift: [.compatible("there is one more type")],
            http: [.compatible("nobody sends it yet")],
            sql: [.compatible(newTable)],
            kafka: [.compatible("readers see a `ce_type` that they do not know yet")]
        ),
        Judgement(
            .eventRemoved,
            swift: [.breaking("the type is removed: code that uses it does not compile")],
            http: [.breaking("events that are still sent are rejected with `unknown-event`")],
            sql: [.breaking(noNewRows)],
            kafka: [.breaking("no new events arrive")]
        ),
        Judgement(
            .keyChanged,
            swift: [.compatible("both keys become the same type", if: .keepsSwiftName), .breaking(otherTypeName)],
            http: [.compatible("senders use the name, which stays")],
            sql: [.compatible("tables use the name, which stays")],
            kafka: [.compatible("readers use the name, which stays")]
        ),
        Judgement(
            .nameChanged,
            swift: [
                .compatible("the type is named after the key, which stays", if: .keepsKey),
                .compatible("both keys become the same type", if: .keepsSwiftName),
                .breaking(otherTypeName),
            ],
            http: [.breaking("events with the old name are rejected with `unknown-event`")],
            sql: [
                .compatible("both names become the same table", if: .keepsTable),
                .breaking("new rows go to a new table; the old table keeps its rows"),
            ],
            kafka: [
                .breaking("readers that select by `ce_type`, or by a topic with the name, get no new events")
            ]
        ),
        Judgement(
            .trackerAdded,
            appliesWithoutAudience: true,
            swift: [.compatible(noProducer)],
            http: [.compatible(noProducer)],
            sql: [.compatible(newTable, if: .isTableTracker), .compatible(noTableTracker)],
            kafka: [
                .compatible("the tracker fills tables", if: .isTableTracker),
                .compatible("one more destination gets the event"),
            ]
        ),
        Judgement(
            .trackerRemoved,
            appliesWithoutAudience: true,
            swift: [.compatible(noProducer)],
            http: [.compatible(noProducer)],
            sql: [.breaking(noNewRows, if: .isTableTracker), .compatible(noTableTracker)],
            kafka: [
                .breaking("no new events arrive from this tracker", if: .isLineTracker),
                .compatible("no program reads this tracker's lines"),
            ]
        ),
        Judgement(
            .additionalPropertiesAllowed,
            swift: [.compatible("code that compiled still compiles")],
            http: [.compatible("more is accepted")],
            sql: [.compatible("`sluice migrate` adds the column `extra` for them")],
            kafka: [.risky("readers may see keys that the plan does not define")]
        ),
        Judgement(
            .additionalPropertiesForbidden,
            swift: [.breaking("calls that pass `additionalProperties` do not compile")],
            http: [.breaking("events with additional properties are rejected with `unplanned-property`")],
            sql: [.risky("the column `extra` stays, and is NULL in new rows")],
            kafka: [.risky("keys that the plan does not define no longer arrive")]
        ),
        .deprecation, .words(.undeprecated), .words(.deprecationReworded),
        .words(.ownerChanged), .words(.descriptionChanged), .swiftName,
    ]

    private static let newTable = """
        `sluice migrate` creates its table; a server that writes to it starts only once the table exists
        """
    private static let noNewRows = "the table keeps its rows and gets no new ones"
    private static let otherTypeName = "the type's name changes: code that uses the old name does not compile"
    private static let noProducer = "producers do not see where an event goes"
    private static let noTableTracker = "the tracker does not fill tables"
}
