import EventSchema

/// The third stage, for facts about events.
extension EventDifference {
    /// The fact with what it means for everybody.
    var judged: PlanChange {
        PlanChange(
            kind: kind,
            event: new.name,
            property: nil,
            sentence: sentence,
            location: new.location,
            impacts: impacts
        )
    }

    private var context: ConcernedAudiences { ConcernedAudiences(old: old, new: new) }

    private var impacts: Impacts {
        switch kind {
        case .eventAdded: addition
        case .eventRemoved: removal
        case .keyChanged: otherKey
        case .nameChanged: otherName
        case .trackerAdded: addedTracker
        case .trackerRemoved: removedTracker
        case .additionalPropertiesAllowed: opening
        case .additionalPropertiesForbidden: closing
        case .deprecated: Impacts.deprecation
        case .swiftNameChanged: Impacts.swiftName
        default: Impacts.words(isComment: kind == .descriptionChanged)
        }
    }

    // MARK: Coming and going

    private var addition: Impacts {
        Impacts(
            swift: .compatible("there is one more type"),
            http: .compatible("nobody sends it yet"),
            sql: context.sql(Self.oneMoreTable),
            kafka: context.kafka(.compatible("readers meet a `ce_type` that they do not know yet"))
        )
    }

    private var removal: Impacts {
        Impacts(
            swift: .breaking("the type is gone: code that makes it does not compile"),
            http: .breaking("whoever still sends it is rejected with `unknown-event`"),
            sql: context.sql(.breaking("the table stays with its rows, and gets no more")),
            kafka: context.kafka(.breaking("no more of it comes"))
        )
    }

    // MARK: Names

    private var otherKey: Impacts {
        let same = Impact.compatible("it is known there by its name, which stayed")
        return Impacts(
            swift: otherTypeName,
            http: same,
            sql: context.sql(same),
            kafka: context.kafka(same)
        )
    }

    /// What another key means for the type.
    private var otherTypeName: Impact {
        old.swiftTypeName == new.swiftTypeName
            ? .compatible("both keys become the same type")
            : .breaking("the type has another name: code that uses the old one does not compile")
    }

    private var otherName: Impacts {
        let isSameTable = ExactText(SQLName.snakeCase(old.name)) == ExactText(SQLName.snakeCase(new.name))
        let isSameKey = ExactText(old.key) == ExactText(new.key)
        return Impacts(
            swift: isSameKey ? .compatible("the type is named by the key, which stayed") : otherTypeName,
            http: .breaking("whoever still sends the old name is rejected with `unknown-event`"),
            sql: context.sql(
                isSameTable
                    ? .compatible("both names become the same table")
                    : .breaking("rows go to a new table; the old one stays with its rows, and gets no more")
            ),
            kafka: context.kafka(.breaking("readers who choose by `ce_type`, or by a topic with the name, get no more"))
        )
    }

    // MARK: Trackers

    private var addedTracker: Impacts {
        let isTables = tracker.map(context.new.fillsTable) ?? false
        return Impacts(
            swift: Self.noProducer,
            http: Self.noProducer,
            sql: isTables
                ? Self.oneMoreTable : .compatible("it is no tracker that fills tables"),
            kafka: isTables ? .compatible("it is a tracker that fills tables") : .compatible("one more reader gets it")
        )
    }

    private var removedTracker: Impacts {
        let isTables = tracker.map(context.old.fillsTable) ?? false
        let isLines = tracker.map { ConcernedAudiences.isLines($0, of: context.old) } ?? false
        return Impacts(
            swift: Self.noProducer,
            http: Self.noProducer,
            sql: isTables
                ? .breaking("the table stays with its rows, and gets no more")
                : .compatible("it is no tracker that fills tables"),
            kafka: isLines
                ? .breaking("no more of it comes from this tracker")
                : .compatible("it is no tracker whose lines somebody relies on")
        )
    }

    private static let oneMoreTable = Impact.compatible(
        "`sluice migrate` makes its table; a server that is to fill it starts once that is there"
    )
    private static let noProducer = Impact.compatible("producers do not see where an event goes")

    // MARK: Additional properties

    private var opening: Impacts {
        Impacts(
            swift: .compatible("what compiled still does"),
            http: .compatible("more is accepted"),
            sql: context.sql(.compatible("`sluice migrate` adds the column `extra`, which holds them")),
            kafka: context.kafka(.risky("readers may meet keys that the plan does not name"))
        )
    }

    private var closing: Impacts {
        Impacts(
            swift: .breaking("calls that pass `additionalProperties` do not compile"),
            http: .breaking("events with such properties are rejected with `unplanned-property`"),
            sql: context.sql(.risky("the column `extra` stays, and is NULL in new rows")),
            kafka: context.kafka(.risky("keys that the plan does not name come no longer"))
        )
    }
}

extension Impacts {
    /// Of a deprecation, of an event or of a property.
    static var deprecation: Impacts {
        let goesOn = Impact.compatible("it is accepted and passed on as before")
        return Impacts(
            swift: .risky("callers get a warning, which is an error where warnings are errors"),
            http: goesOn,
            sql: goesOn,
            kafka: goesOn
        )
    }

    /// Of a name that is Swift's only.
    static var swiftName: Impacts {
        let others = Impact.compatible("the name is Swift's only")
        return Impacts(
            swift: .breaking("it has another name: code that uses the old one does not compile"),
            http: others,
            sql: others,
            kafka: others
        )
    }

    /// Of what is there for people to read only.
    static func words(isComment: Bool) -> Impacts {
        let words = Impact.compatible("it is for people, and nothing is checked by it")
        return Impacts(
            swift: words,
            http: words,
            sql: isComment ? .compatible("`sluice migrate` brings the comment up to it") : words,
            kafka: words
        )
    }
}
