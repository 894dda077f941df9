import EventSchema

/// Checks the properties of an event against each other, after its groups have been expanded.
enum PropertyCheck {
    /// The limit of properties for each event, nested ones included; a table has at most 1,600 columns.
    static let maximumProperties = 1000

    /// Reports properties that collide in Swift, columns that collide if the event has a table, and too many properties.
    static func check(_ event: EventDefinition) -> [Diagnostic] {
        let count = count(event.properties)
        if count > maximumProperties {
            let sentence =
                "the event \(quoted(event.name)) has \(count) properties, but at most \(maximumProperties) are allowed"
            return [Diagnostic(.tooManyProperties, at: event.location, sentence)]
        }
        return members(event.properties) + (event.hasTable ? columns(event) : [])
    }

    private static func count(_ properties: [PropertyDefinition]) -> Int {
        properties.reduce(0) { $0 + 1 + count(nested(in: $1)) }
    }

    /// The properties one level down, in an object or an array of objects.
    private static func nested(in property: PropertyDefinition) -> [PropertyDefinition] {
        (property.properties ?? []) + (property.items.map(nested) ?? [])
    }

    private static func members(_ properties: [PropertyDefinition]) -> [Diagnostic] {
        let colliding = NameCollisions.find(
            in: properties.map { ($0.name, $0.swiftMemberName, $0.location) },
            code: .swiftNameCollision,
            thing: "property",
            result: "Swift property"
        )
        return colliding + properties.flatMap { members(nested(in: $0)) }
    }

    /// Only the properties of the event itself become columns; nested ones stay within their `jsonb`.
    private static func columns(_ event: EventDefinition) -> [Diagnostic] {
        let properties = event.properties
        let taken = properties.compactMap { property in
            owner(of: SQLName.snakeCase(property.name), in: event).map { owner in
                let column = quoted(SQLName.snakeCase(property.name))
                let sentence = "the property collides with the column \(column), which \(owner); rename it"
                return Diagnostic(.reservedColumn, at: property.location, sentence)
            }
        }
        let colliding = NameCollisions.find(
            in: properties.map { ($0.name, SQLName.snakeCase($0.name), $0.location) },
            code: .sqlNameCollision,
            thing: "property",
            result: "column"
        )
        return taken + colliding
    }

    /// Why a property cannot have the column; `nil` if it can.
    private static func owner(of column: String, in event: EventDefinition) -> String? {
        if column == SQLName.additionalPropertiesColumn {
            return event.allowsAdditionalProperties ? "holds the event's additional properties" : nil
        }
        let isReserved = SQLName.ownColumns.contains(column) || SQLName.systemColumns.contains(column)
        return isReserved ? "every table has" : nil
    }
}
