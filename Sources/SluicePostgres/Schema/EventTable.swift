package import EventSchema

/// The table for an event's rows, as the plan requires it.
package struct EventTable: Sendable, Hashable {
    /// A column of the table.
    package struct Column: Sendable, Hashable {
        package var name: String
        package var type: ColumnType
        package var isNullable: Bool
        /// The column's description; `nil` for none.
        package var comment: String?

        package init(name: String, type: ColumnType, isNullable: Bool, comment: String? = nil) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
            self.comment = comment
        }

        /// Whether a column of this type stores each value exactly as it was sent.
        ///
        /// Only the planned type without a modifier does: binary values mean something else to any other type, and a modifier rounds,
        /// pads or shortens them.
        package func accepts(_ type: String) -> Bool { type == self.type.sql }
    }

    package var schema: String
    package var name: String
    /// Sluice's own columns, then one for each property whose value is not dropped, then `extra` if additional properties are allowed.
    package var columns: [Column]
    /// The event's description; `nil` for none.
    package var comment: String?

    /// The table of an event in a schema.
    package init(_ definition: EventDefinition, schema: String) {
        self.schema = schema
        name = SQLName.snakeCase(definition.name)
        comment = definition.description
        columns = Self.ownColumns
        columns += definition.properties.filter { !$0.isDropped }.map { property in
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

    /// The columns that several properties or fields map to; a valid plan has none in the tables of `postgres`.
    package var collidingColumns: [String] {
        var known: Set<String> = []
        return columns.map(\.name).filter { !known.insert($0).inserted }
    }

    /// The first column, among those that exist, that does not store each value exactly, and its type; `nil` for none.
    func mistypedColumn(in types: [String: String]) -> (column: Column, type: String)? {
        for column in columns {
            if let type = types[column.name], !column.accepts(type) { return (column, type) }
        }
        return nil
    }

    /// The schema and the table's name, quoted.
    package var sqlName: String {
        SQLText.identifier(schema) + "." + SQLText.identifier(name)
    }

    /// The columns of every table, in the order in which `CopyEncoder` writes them.
    package static let ownColumns = [
        Column(name: "id", type: .uuid, isNullable: false, comment: "The event's identity."),
        Column(name: "occurred_at", type: .timestamptz, isNullable: false, comment: "When it happened."),
        Column(name: "received_at", type: .timestamptz, isNullable: false, comment: "When Sluice received it."),
        Column(name: "user_id", type: .text, isNullable: true, comment: "The user, if known."),
        Column(name: "anonymous_id", type: .text, isNullable: true, comment: "The device or browser, if known."),
        Column(name: "session_id", type: .text, isNullable: true, comment: "The session, if known."),
        Column(name: "context", type: .jsonb, isNullable: true, comment: "Where and how it happened."),
    ]
}

extension EventTable {
    /// Returns the tables of all events that the plan sends to the tracker of this name, in the plan's order, without columns for
    /// what the plan hides from it.
    package static func tables(of plan: TrackingPlan, tracker: String, schema: String) -> [EventTable] {
        let name = tracker.lowercased()
        return plan.visible(to: name).events
            .filter { $0.trackers.contains { $0.lowercased() == name } }
            .map { EventTable($0, schema: schema) }
    }
}
