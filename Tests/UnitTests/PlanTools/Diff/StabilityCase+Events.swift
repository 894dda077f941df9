import EventSchema
import PlanTools
import TestCases

extension StabilityCase {
    static let events: [StabilityCase] = [
        StabilityCase(title: "an event is added", kind: .eventAdded, old: nil, new: sold()),
        StabilityCase(title: "an event is removed", kind: .eventRemoved, old: sold(), new: nil),
        event("the key changes, `name` keeps the name on the wire", .keyChanged) { $0.key = "Item Sold" },
        event("the key changes in style only (`Sold` to `sold`), `name` stays", .keyChanged) { $0.key = "sold" },
        event("`swiftName` gives its type another name", .swiftNameChanged) { $0.swiftName = "Purchase" },
        event("the name on the wire changes, the key stays", .nameChanged) { $0.name = "Item Sold" },
        event("the name on the wire changes in style only (`Sold` to `sold`)", .nameChanged) { $0.name = "sold" },
        event("key and name on the wire change in style only (`Sold` to `sold`)", .nameChanged) {
            $0.key = "sold"
            $0.name = "sold"
        },
        event("the tracker `postgres` is added", .trackerAdded, of: going(to: "console")) {
            $0.trackers += ["postgres"]
        },
        event("another tracker is added", .trackerAdded, of: going(to: "postgres")) { $0.trackers += ["kafka"] },
        event("the tracker `postgres` is removed", .trackerRemoved) { $0.trackers = ["console", "kafka"] },
        event("the tracker `console` is removed", .trackerRemoved) { $0.trackers = ["postgres", "kafka"] },
        event("another tracker is removed", .trackerRemoved) { $0.trackers = ["console", "postgres"] },
        event("`owner` changes", .ownerChanged) { $0.owner = "checkout" },
        event("`description` changes", .descriptionChanged) { $0.description = "Somebody bought." },
        event("`deprecated` is added", .deprecated) { $0.deprecated = "Use Bought." },
        event("`deprecated` is removed", .undeprecated, of: deprecated) { $0.deprecated = nil },
        event("`deprecated` says something else", .deprecationReworded, of: deprecated) { $0.deprecated = "Use Paid." },
        event("`additionalProperties` becomes true", .additionalPropertiesAllowed) {
            $0.allowsAdditionalProperties = true
        },
        event("`additionalProperties` becomes false", .additionalPropertiesForbidden, of: sold(isOpen: true)) {
            $0.allowsAdditionalProperties = false
        },
    ]

    static let properties: [StabilityCase] = [
        event("a required property is added", .requiredPropertyAdded) { $0.properties.append(it(.integer)) },
        event("a required, nullable property is added", .requiredPropertyAdded) {
            $0.properties.append(it(.integer, nullable: true))
        },
        event("an optional property is added, wherever it stands", .optionalPropertyAdded) {
            $0.properties.insert(it(.integer, required: false), at: 0)
        },
        event(
            "an optional property is added where additional ones are allowed",
            .optionalPropertyAdded,
            of: sold(isOpen: true)
        ) { $0.properties.append(it(.integer, required: false)) },
        event("a required property is removed", .propertyRemoved) { $0.properties.removeFirst() },
        event("an optional property is removed", .propertyRemoved) { $0.properties.removeLast() },
        event("a property is removed where additional ones are allowed", .propertyRemoved, of: sold(isOpen: true)) {
            $0.properties.removeFirst()
        },
        event("a required property's name changes in style only (`sku` to `Sku`)", .nameChanged) {
            $0.properties[0].name = "Sku"
        },
        event("an optional property's name changes in style only (`note` to `Note`)", .nameChanged) {
            $0.properties[1].name = "Note"
        },
        event(
            "a required property's name changes in style only where additional ones are allowed",
            .nameChanged,
            of: sold(isOpen: true)
        ) { $0.properties[0].name = "Sku" },
        event(
            "an optional property's name changes in style only where additional ones are allowed",
            .nameChanged,
            of: sold(isOpen: true)
        ) { $0.properties[1].name = "Note" },
        property(
            "a property's name changes in style only, and with it that in Swift (`itemID` to `itemId`)",
            .nameChanged,
            it(.integer) { $0.name = "itemID" },
            it(.integer) { $0.name = "itemId" }
        ),
        event("properties change places", .propertiesReordered) { $0.properties.reverse() },
        property("optional becomes required", .becameRequired, it(.integer, required: false), it(.integer)),
        property(
            "optional becomes required, and may be null",
            .becameRequired,
            it(.integer, required: false, nullable: true),
            it(.integer, nullable: true)
        ),
        property("required becomes optional", .becameOptional, it(.integer), it(.integer, required: false)),
        property("a required one may be null", .becameNullable, it(.integer), it(.integer, nullable: true)),
        property(
            "an optional one may be null",
            .becameNullable,
            it(.integer, required: false),
            it(.integer, required: false, nullable: true)
        ),
        property(
            "a required one may no longer be null",
            .becameNonNullable,
            it(.integer, nullable: true),
            it(.integer)
        ),
        property(
            "an optional one may no longer be null",
            .becameNonNullable,
            it(.integer, required: false, nullable: true),
            it(.integer, required: false)
        ),
        property(
            "`description` changes",
            .descriptionChanged,
            it(.integer),
            it(.integer) { $0.description = "How many." }
        ),
        property("`deprecated` is added", .deprecated, note, deprecatedNote),
        property("`deprecated` is removed", .undeprecated, deprecatedNote, note),
        property(
            "`swiftName` or `swiftCases` gives it, its type or a case another name",
            .swiftNameChanged,
            it(.integer),
            it(.integer) { $0.swiftName = "renamed" }
        ),
        property("`examples` change", .examplesChanged, it(.integer), it(.integer) { $0.examples = [.integer(1)] }),
        property(
            "a required property is added within an object",
            .requiredPropertyAdded,
            object([sku]),
            object([sku, part])
        ),
        property(
            "a required property is removed within an object",
            .propertyRemoved,
            object([sku, part]),
            object([sku])
        ),
        property(
            "the name of a property within an object changes in style only (`part` to `Part`)",
            .nameChanged,
            object([sku, part]),
            object([sku, PropertyDefinition(name: "Part", type: .integer, location: .line(5))])
        ),
        property(
            "properties within an object change places",
            .propertiesReordered,
            object([sku, part]),
            object([part, sku])
        ),
    ]

    private static func going(to tracker: String) -> EventDefinition {
        EventDefinition(key: "Sold", trackers: [tracker], location: .line(1))
    }

    private static let deprecated = EventDefinition(
        key: "Sold",
        deprecated: "Use Bought.",
        trackers: ["postgres", "kafka"],
        location: .line(1)
    )

    private static let deprecatedNote = PropertyDefinition(
        name: "note",
        type: .string,
        isRequired: false,
        deprecated: "Use sku.",
        location: .line(3)
    )

    private static let part = PropertyDefinition(name: "part", type: .integer, location: .line(5))

    private static func object(_ properties: [PropertyDefinition]) -> PropertyDefinition {
        it(.object) { $0.properties = properties }
    }
}
