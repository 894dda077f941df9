import EventSchema

/// The third stage, for facts about properties.
extension PropertyDifference {
    /// The fact with what it means for everybody, in an event.
    func judged(in context: ConcernedAudiences) -> PlanChange {
        var impacts = impacts(context)
        impacts.sql = context.sql(impacts.sql)
        impacts.kafka = context.kafka(impacts.kafka)
        let isEvent = path.depth == 0
        return PlanChange(
            kind: kind,
            event: context.new.name,
            property: isEvent ? nil : path.text,
            sentence: sentence,
            location: isEvent ? context.new.location : new.location,
            impacts: impacts
        )
    }

    private func impacts(_ context: ConcernedAudiences) -> Impacts {
        let wasOpen = path.hasColumn && context.old.allowsAdditionalProperties
        let isOpen = path.hasColumn && context.new.allowsAdditionalProperties
        return switch kind {
        case .requiredPropertyAdded: requiredAddition(wasOpen: wasOpen)
        case .optionalPropertyAdded: optionalAddition(wasOpen: wasOpen)
        case .propertyRemoved: removal(isOpen: isOpen)
        case .nameChanged: otherName(isOpen: isOpen)
        case .propertiesReordered: reordering
        case .typeChanged: otherType
        case .becameRequired: nowRequired
        case .becameOptional: nowOptional
        case .becameNullable: nowNullable
        case .becameNonNullable: nowNonNullable
        case .deprecated: .deprecation
        case .swiftNameChanged: .swiftName
        case .descriptionChanged: .words(isComment: path.hasColumn)
        case .shapeAdded, .shapeRemoved, .enumAdded, .enumRemoved, .enumValueAdded, .enumValueRemoved, .limitTightened,
            .limitLoosened, .patternAdded, .patternRemoved, .patternChanged:
            valueImpacts
        default: .words(isComment: false)
        }
    }

    // MARK: Coming and going

    private func requiredAddition(wasOpen: Bool) -> Impacts {
        Impacts(
            swift: new.isNullable ? Self.hasDefault : .breaking("calls without the argument do not compile"),
            http: .breaking("events without it are rejected with `missing-required`"),
            sql: addedColumn(wasOpen: wasOpen, ", empty in the rows that are there"),
            kafka: .compatible("there is one more key")
        )
    }

    private func optionalAddition(wasOpen: Bool) -> Impacts {
        Impacts(
            swift: Self.hasDefault,
            http: wasOpen
                ? .risky("who sent it as an additional property is rejected where it is of another type")
                : .compatible("it may be absent"),
            sql: addedColumn(wasOpen: wasOpen, ""),
            kafka: .compatible("there may be one more key")
        )
    }

    private func addedColumn(wasOpen: Bool, _ addition: String) -> Impact {
        guard path.hasColumn else { return .compatible("there is one more key within the `jsonb`") }
        if wasOpen { return .risky("what came in `extra` under this key gets a column of its own") }
        return .compatible("`sluice migrate` adds a nullable column\(addition)")
    }

    private static let hasDefault = Impact.compatible("the new argument is nil by default")

    private func removal(isOpen: Bool) -> Impacts {
        let sql: Impact =
            if isOpen {
                .breaking("the column stays, and is NULL in new rows; what is still sent goes to `extra`")
            } else if path.hasColumn {
                readers("the column stays, and is NULL in new rows")
            } else {
                readers("the key within the `jsonb` comes no longer")
            }
        return Impacts(
            swift: .breaking("calls that pass the argument do not compile"),
            http: isOpen
                ? .compatible("it is taken as an additional property")
                : .breaking("whoever still sends it is rejected with `unplanned-property`"),
            sql: sql,
            kafka: isOpen
                ? .risky("it comes only where it is still sent, and may be anything")
                : readers("the key comes no longer")
        )
    }

    private var reordering: Impacts {
        Impacts(
            swift: .breaking("arguments have the plan's order: calls in the old one do not compile"),
            http: .compatible("the keys of an object have no order"),
            sql: .compatible(
                path.depth == 0 ? "columns stay where they are" : "the keys of an object have no order"
            ),
            kafka: .compatible("the keys of an object have no order")
        )
    }

    /// For those who read a key that comes no longer.
    private func readers(_ reason: String) -> Impact { old.isRequired ? .breaking(reason) : .risky(reason) }

    // MARK: The name

    private func otherName(isOpen: Bool) -> Impacts {
        let isSameInSwift = SwiftNameComparison.ownNames(from: old, to: new).isEmpty
        let sql: Impact =
            if !path.hasColumn {
                readers("the key within the `jsonb` is another")
            } else if isOpen && !new.isRequired {
                .risky("both names become the same column; what is still sent under the old one goes to `extra`")
            } else {
                .compatible("both names become the same column")
            }
        return Impacts(
            swift: isSameInSwift ? .compatible("both names become the same argument") : Impacts.swiftName.swift,
            http: otherNameForSenders(isOpen: isOpen),
            sql: sql,
            kafka: readers("the key is another")
        )
    }

    private func otherNameForSenders(isOpen: Bool) -> Impact {
        guard isOpen else { return .breaking("whoever still sends the old name is rejected with `unplanned-property`") }
        return new.isRequired
            ? .breaking("whoever still sends the old name is rejected with `missing-required`")
            : .risky("what is still sent under the old name is taken as an additional property")
    }

    // MARK: The type

    private var otherType: Impacts {
        let change = TypeChange(from: old.type, to: new.type)
        return Impacts(
            swift: .breaking("the argument has another type"),
            http: otherTypeForSenders(change),
            sql: otherTypeForQueries(change),
            kafka: otherTypeForReaders(change)
        )
    }

    private func otherTypeForSenders(_ change: TypeChange) -> Impact {
        if change.takesAllOldValues { return .compatible("every value of the old type is one of the new") }
        if change.takesMostOldValues { return .risky("some values of the old type are none of the new") }
        return .breaking("values of the old type are rejected with `wrong-type`")
    }

    private func otherTypeForQueries(_ change: TypeChange) -> Impact {
        guard path.hasColumn else { return otherTypeForReaders(change) }
        if change.keepsColumn { return otherTypeForReaders(change) }
        return .breaking(
            "`sluice migrate` refuses, and no server starts, until the column's type is changed by hand"
        )
    }

    private func otherTypeForReaders(_ change: TypeChange) -> Impact {
        if change.yieldsOldValuesOnly { return .compatible("whoever reads the old values can read the new ones") }
        if change.yieldsOldValuesToo { return .risky("values may come of a form that never came") }
        return .breaking("the values have another form in JSON")
    }

    // MARK: Presence

    private var isOptionalNow: Bool { !new.isRequired || new.isNullable }

    private var nowRequired: Impacts {
        Impacts(
            swift: isOptionalNow
                ? .compatible("the argument stays optional, because it may be null")
                : .breaking("calls without the argument, or with an optional, do not compile"),
            http: .breaking("events without it are rejected with `missing-required`"),
            sql: .compatible(
                path.hasColumn ? "the column stays nullable, because of the rows that are there" : "it is always there"
            ),
            kafka: .compatible("it is always there")
        )
    }

    private var nowOptional: Impacts {
        Impacts(
            swift: .compatible("the argument takes an optional, and is nil by default"),
            http: .compatible("it may be absent"),
            sql: old.isNullable
                ? .compatible("NULL was possible before")
                : .risky(
                    path.hasColumn ? "`sluice migrate` lets the column be NULL" : "the key may be absent in the `jsonb`"
                ),
            kafka: .risky("the key may be absent")
        )
    }

    private var nowNullable: Impacts {
        Impacts(
            swift: .compatible("the argument takes an optional, and is nil by default"),
            http: .compatible("it may be null"),
            sql: !path.hasColumn
                ? .risky("the value may be null in the `jsonb`")
                : old.isRequired
                    ? .risky("`sluice migrate` lets the column be NULL") : .compatible("NULL was possible before"),
            kafka: .risky("the value may be null")
        )
    }

    private var nowNonNullable: Impacts {
        Impacts(
            swift: isOptionalNow
                ? .compatible("the argument stays optional, because it may be absent")
                : .breaking("calls without the argument, or with an optional, do not compile"),
            http: .breaking("null is rejected with `wrong-type`"),
            sql: .compatible(path.hasColumn ? "fewer values are NULL" : "it is never null"),
            kafka: .compatible("it is never null")
        )
    }
}
