package import EventSchema

/// The table that an event's rows go to, as the plan wants it.
package struct EventTable: Sendable, Hashable {
    /// One column of it.
    package struct Column: Sendable, Hashable {
        package var name: String
        package var type: ColumnType
        package var isNullable: Bool
        /// What the column means; `nil` to say nothing.
        package var comment: String?

        package init(name: String, type: ColumnType, isNullable: Bool, comment: String? = nil) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
            self.comment = comment
        }
    }

    package var schema: String
    package var name: String
    /// Our own columns, then one for each property, then `extra` where additional properties are allowed.
    package var columns: [Column]
    /// What the event means; `nil` to say nothing.
    package var comment: String?

    /// The table of an event in a schema.
    package init(_ definition: EventDefinition, schema: String) {
        self.schema = schema
        name = SQLName.snakeCase(definition.name)
        comment = definition.description
        columns = Self.ownColumns
        columns += definition.properties.map { property in
            Column(
                name: SQLName.snakeCase(property.name),
                type: ColumnType(property.type),
                isNullable: !property.isRequired || property.isNullable,
                comment: property.description
            )
        }
        if definition.allowsAdditionalProperties {
            columns.append(
                Column(
                    name: "extra",
                    type: .jsonb,
                    isNullable: true,
                    comment: "Properties that the plan does not name."
                )
            )
        }
    }

    /// The columns that more than one thing becomes; a plan that was checked has none in the tables of `postgres`.
    package var collidingColumns: [String] {
        var known: Set<String> = []
        return columns.map(\.name).filter { !known.insert($0).inserted }
    }

    /// Schema and name, quoted.
    package var sqlName: String {
        SQLText.identifier(schema) + "." + SQLText.identifier(name)
    }

    /// The columns every table has, in the order in which `CopyEncoder` writes them.
    package static let ownColumns = [
        Column(name: "id", type: .uuid, isNullable: false, comment: "The event's identity."),
        Column(name: "occurred_at", type: .timestamptz, isNullable: false, comment: "When it happened."),
        Column(name: "received_at", type: .timestamptz, isNullable: false, comment: "When it arrived at the door."),
        Column(name: "user_id", type: .text, isNullable: true, comment: "The user, where known."),
        Column(name: "anonymous_id", type: .text, isNullable: true, comment: "The device or browser, where known."),
        Column(name: "session_id", type: .text, isNullable: true, comment: "The session, where known."),
        Column(name: "context", type: .jsonb, isNullable: true, comment: "Where and how it happened."),
    ]
}

extension EventTable {
    /// The tables of all events that a plan sends to the tracker of this name, in the plan's order.
    package static func tables(of plan: TrackingPlan, tracker: String, schema: String) -> [EventTable] {
        let name = tracker.lowercased()
        return plan.events
            .filter { $0.trackers.contains { $0.lowercased() == name } }
            .map { EventTable($0, schema: schema) }
    }
}
