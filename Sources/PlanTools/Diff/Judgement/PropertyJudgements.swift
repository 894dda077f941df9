import EventSchema

/// The impact of each kind of change of a property.
extension PropertyDifference {
    /// The difference with what it means for each audience, in an event that is given as it was and as it is.
    func judged(from oldEvent: EventDefinition, to newEvent: EventDefinition) -> PlanChange {
        let isEvent = path.depth == 0
        return PlanChange(
            kind: kind,
            event: newEvent.name,
            property: isEvent ? nil : path.text,
            sentence: sentence,
            location: isEvent ? newEvent.location : new.location,
            impacts: Self.judgements.row(for: kind).impacts(in: circumstances(from: oldEvent, to: newEvent))
        )
    }

    static let judgements: [Judgement] = presence + names + values + [sensitivity]

    // MARK: Added, removed, required, null

    private static let presence: [Judgement] = [
        Judgement(
            .requiredPropertyAdded,
            swift: [
                .compatible(nilByDefault, if: .isNullable), .breaking("calls without the argument do not compile"),
            ],
            http: [.breaking(missingRequired)],
            sql: newColumn("`sluice migrate` adds a nullable column, which is NULL in existing rows"),
            kafka: [.compatible("there is one more key")]
        ),
        Judgement(
            .optionalPropertyAdded,
            swift: [.compatible(nilByDefault)],
            http: [
                .risky("events that sent it as an additional property of another type are rejected", if: .wasOpen),
                .compatible("it can be absent"),
            ],
            sql: newColumn("`sluice migrate` adds a nullable column"),
            kafka: [.compatible("there can be one more key")]
        ),
        Judgement(
            .propertyRemoved,
            swift: [.breaking("calls that pass the argument do not compile")],
            http: [
                .compatible("it counts as an additional property", if: .isOpen),
                .breaking("events that still have it are rejected with `unplanned-property`"),
            ],
            sql: [
                .breaking(
                    "the column stays, and is NULL in new rows; values that are still sent go to `extra`",
                    if: .isOpen
                )
            ]
                + lossOfData("the column stays, and is NULL in new rows", if: .isColumn)
                + lossOfData("the key is no longer in the `jsonb`"),
            kafka: [
                .risky("the key arrives only if it is still sent, and its value can be anything", if: .isOpen)
            ]
                + lossOfData("the key no longer arrives")
        ),
        Judgement(
            .becameRequired,
            swift: [
                .compatible("the argument stays optional, because it can be null", if: .isNullable),
                .breaking(noLongerOptional),
            ],
            http: [.breaking(missingRequired)],
            sql: [
                .compatible("the column stays nullable, because of existing rows", if: .isColumn),
                .compatible("it is always present"),
            ],
            kafka: [.compatible("it is always present")]
        ),
        Judgement(
            .becameOptional,
            swift: [.compatible(optionalNow)],
            http: [.compatible("it can be absent")],
            sql: [
                .compatible("it could be NULL before", if: .wasNullable),
                .risky("`sluice migrate` lets the column be NULL", if: .isColumn),
                .risky("the key can be absent from the `jsonb`"),
            ],
            kafka: [.risky("the key can be absent")]
        ),
        Judgement(
            .becameNullable,
            swift: [.compatible(optionalNow)],
            http: [.compatible("it can be null")],
            sql: [
                .risky("the value in the `jsonb` can be null", unless: .isColumn),
                .risky("`sluice migrate` lets the column be NULL", if: .wasRequired),
                .compatible("it could be NULL before"),
            ],
            kafka: [.risky("the value can be null")]
        ),
        Judgement(
            .becameNonNullable,
            swift: [
                .compatible("the argument stays optional, because it can be absent", unless: .isRequired),
                .breaking(noLongerOptional),
            ],
            http: [.breaking("null is rejected with `wrong-type`")],
            sql: [.compatible("fewer values are NULL", if: .isColumn), .compatible("it is never null")],
            kafka: [.compatible("it is never null")]
        ),
    ]

    private static let nilByDefault = "the new argument is nil by default"
    private static let optionalNow = "the argument is optional now, and nil by default"
    private static let noLongerOptional = "calls without the argument, or with an optional, do not compile"
    private static let missingRequired = "events without it are rejected with `missing-required`"

    private static func newColumn(_ reason: String) -> [JudgedCase] {
        [
            .compatible("there is one more key in the `jsonb`", unless: .isColumn),
            .risky("values that were in `extra` under this key now go to a column of their own", if: .wasOpen),
            .compatible(reason),
        ]
    }

    /// Breaking for consumers if the property was always present, and risky if they had to expect that it is absent.
    private static func lossOfData(_ reason: String, if conditions: Circumstances = []) -> [JudgedCase] {
        [.breaking(reason, if: conditions.union(.wasRequired)), .risky(reason, if: conditions)]
    }

    // MARK: Names, order, words

    private static let names: [Judgement] = [
        Judgement(
            .nameChanged,
            swift: [
                .compatible("both names become the same argument", if: .keepsSwiftName),
                .breaking(Judgement.otherSwiftName),
            ],
            http: [
                .breaking("events with the old name are rejected with `unplanned-property`", unless: .isOpen),
                .breaking("events with the old name are rejected with `missing-required`", if: .isRequired),
                .risky("values that are still sent under the old name count as additional properties"),
            ],
            sql: [
                .breaking("the key in the `jsonb` changes", if: .wasRequired, unless: .isColumn),
                .risky("the key in the `jsonb` changes", unless: .isColumn),
                .risky(
                    "both names become the same column; values that are still sent under the old name go to `extra`",
                    if: .isOpen,
                    unless: .isRequired
                ),
                .compatible("both names become the same column"),
            ],
            kafka: lossOfData("the key changes")
        ),
        Judgement(
            .propertiesReordered,
            swift: [.breaking("arguments follow the plan's order: calls in the old order do not compile")],
            http: [.compatible(noOrder)],
            sql: [.compatible("columns keep their order", if: .isEvent), .compatible(noOrder)],
            kafka: [.compatible(noOrder)]
        ),
        .deprecation, .words(.undeprecated), .words(.deprecationReworded),
        .swiftName, .words(.descriptionChanged), .words(.examplesChanged), .words(.enumReordered),
    ]

    private static let noOrder = "the keys of an object have no order"

    // MARK: Privacy

    private static let sensitivity = Judgement(
        .sensitivityChanged,
        swift: [.compatible("the argument stays")],
        http: [.compatible("the same values are accepted")],
        sql: [
            .breaking("new rows have a hash, or nothing, instead of the value", if: .tablesLoseValue),
            .risky("values occur that were hidden before", if: .tablesGainValue),
            .compatible("tables get what they got before"),
        ],
        kafka: [
            .breaking("events have a hash, or nothing, instead of the value", if: .readersLoseValue),
            .risky("values occur that were hidden before", if: .readersGainValue),
            .compatible("readers get what they got before"),
        ]
    )

    // MARK: Types, limits, allowed values

    private static let values: [Judgement] = [
        Judgement(
            .typeChanged,
            swift: [.breaking(otherArgument)],
            http: [
                .compatible("every value of the old type is a valid value of the new type", if: .takesAllOldValues),
                .risky("some values of the old type are not valid values of the new type", if: .takesMostOldValues),
                .breaking("values of the old type are rejected with `wrong-type`"),
            ],
            sql: [
                .breaking(
                    "`sluice migrate` refuses, and the table's events are retried and then parked, until the column's type is changed by hand",
                    if: .isColumn,
                    unless: .keepsColumnType
                )
            ] + newForm,
            kafka: newForm
        ),
        Judgement(.shapeAdded, swift: [.breaking(otherArgument)], http: [.breaking(otherShape)], consumers: fewer),
        Judgement(.shapeRemoved, swift: [.breaking(otherArgument)], http: more, consumers: others),
        Judgement(.enumAdded, swift: [.breaking(otherArgument)], http: rejection("not-in-enum"), consumers: fewer),
        Judgement(.enumRemoved, swift: [.breaking(otherArgument)], http: more, consumers: others),
        Judgement(
            .enumValueAdded,
            swift: [.breaking("a `switch` over the cases without `default` does not compile")],
            http: more,
            consumers: [.risky("a value can occur that did not occur before")]
        ),
        Judgement(
            .enumValueRemoved,
            swift: [.breaking("the case is removed: code that uses it does not compile")],
            http: rejection("not-in-enum"),
            consumers: fewer
        ),
        Judgement(
            .limitTightened,
            swift: [.risky(throwsNow)],
            http: rejection("too-short` or `too-long", if: [.minLengthRose, .maxLengthFell])
                + rejection("too-short", if: .minLengthRose)
                + rejection("too-long", if: .maxLengthFell)
                + rejection("out-of-range"),
            consumers: fewer
        ),
        Judgement(.limitLoosened, swift: more, http: more, consumers: others),
        Judgement(.patternAdded, swift: [.risky(throwsNow)], http: rejection("pattern-mismatch"), consumers: fewer),
        Judgement(.patternRemoved, swift: more, http: more, consumers: others),
        Judgement(
            .patternChanged,
            swift: [.risky(throwsNow)],
            http: [.risky("texts that match only the old pattern are rejected with `pattern-mismatch`")],
            consumers: others
        ),
    ]

    private static let otherArgument = "the argument has another type"
    private static let otherShape = "values with another shape are rejected, usually with `wrong-type`"
    private static let throwsNow = "calls compile, but `track` throws for values that are no longer allowed"
    private static let more: [JudgedCase] = [.compatible("all values that were allowed still are")]
    private static let fewer: [JudgedCase] = [.compatible("all values could have occurred before")]
    private static let others: [JudgedCase] = [.risky("values can occur that did not occur before")]
    /// What another type means for those who read the values.
    private static let newForm: [JudgedCase] = [
        .compatible("code that reads the old values can read the new ones", if: .yieldsOldValuesOnly),
        .risky("values can have a form that did not occur before", if: .yieldsOldValuesToo),
        .breaking("the values have another form in JSON"),
    ]

    private static func rejection(_ code: String, if conditions: Circumstances = []) -> [JudgedCase] {
        [.breaking("values that were valid are rejected with `\(code)`", if: conditions)]
    }
}

extension Judgement {
    /// A row in which the change means the same for tables and for readers of lines.
    fileprivate init(
        _ kind: PlanChange.Kind,
        swift: [JudgedCase],
        http: [JudgedCase],
        consumers: [JudgedCase]
    ) {
        self.init(kind, swift: swift, http: http, sql: consumers, kafka: consumers)
    }
}
