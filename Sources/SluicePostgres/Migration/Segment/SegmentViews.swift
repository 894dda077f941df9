import EventSchema

/// Views of the plan's tables in the form that Segment's warehouses have, for packages and dashboards that expect it.
///
/// Source: https://segment.com/docs/connections/storage/warehouses/schema/. A view only gains columns at its end, because views
/// that depend on it keep PostgreSQL from any other change.
struct SegmentViews: Sendable {
    /// The schema of the views.
    static let schema = "segment"

    /// A table and the name of its event.
    private struct Source {
        let event: String
        let table: EventTable
    }

    /// The messages that are no tracks, by the tables of their events, with their views; `alias` has none in a warehouse.
    private static let messages: [(table: String, view: String?)] = [
        ("identify", "identifies"), ("page", "pages"), ("screen", "screens"), ("group", "groups"), ("alias", nil),
    ]

    /// The names of all views.
    static let names = ["tracks"] + messages.compactMap(\.view)

    private let sources: [Source]
    private let schema: String

    /// The views of the events that the plan sends to the tracker.
    init(_ plan: TrackingPlan, tracker: String, schema: String) {
        self.schema = schema
        let tables = EventTable.tables(of: plan, tracker: tracker, schema: schema)
        let events = Dictionary(plan.events.map { (SQLName.snakeCase($0.name), $0.name) }) { first, _ in first }
        sources = tables.map { Source(event: events[$0.name] ?? $0.name, table: $0) }
    }

    /// A view and the statements that make or extend it, which run in one transaction.
    struct Change: Sendable, Hashable {
        let view: String
        var statements: [String]
    }

    /// The changes that the views need; those that are as they should be are omitted.
    ///
    /// - Parameters:
    ///   - present: The tables of the events, which may have more columns than the plan.
    ///   - existing: What exists in the schema `segment` under the names of the views.
    /// - Returns: The changes, in the order of `names`.
    /// - Throws: A sentence that names what exists and is none of these views.
    func changes(in present: PresentSchema, from existing: PresentViews) throws(PresentViews.Foreign) -> [Change] {
        var changes: [Change] = []
        let others = Set(Self.messages.map(\.table))
        let tracks = sources.filter { !others.contains($0.table.name) }
        if !tracks.isEmpty {
            let columns = SegmentColumn.base + [SegmentColumn.event, SegmentColumn.eventText] + SegmentColumn.context
            let parts = tracks.map { (source: $0, columns: columns) }
            changes += try change(of: "tracks", parts, from: existing)
        }
        for (table, view) in Self.messages {
            guard let view, let source = sources.first(where: { $0.table.name == table }) else { continue }
            let columns = columns(of: view, source.table, present.tables[table])
            changes += try change(of: view, [(source, columns)], from: existing)
        }
        // IF NOT EXISTS would need the privilege to create schemas even if this one exists.
        if !changes.isEmpty, !existing.schemaExists {
            changes[0].statements.insert(contentsOf: Self.schemaCreation, at: 0)
        }
        return changes
    }

    private static var schemaCreation: [String] {
        let name = SQLText.identifier(schema)
        return [
            "CREATE SCHEMA \(name)",
            "COMMENT ON SCHEMA \(name) IS 'Views of the events in the form of Segment''s warehouses.'",
        ]
    }

    /// The columns of a message's view: those that Segment always has, and then the properties of the event.
    private func columns(of view: String, _ table: EventTable, _ present: PresentTable?) -> [SegmentColumn] {
        let planned = table.columns.map(\.name)
        let names = planned + (present?.columns.map(\.name).filter { !planned.contains($0) } ?? [])
        // An event without additional properties may have a property of this name, of any type.
        let extra = SQLName.additionalPropertiesColumn
        let typeOfExtra =
            table.columns.first { $0.name == extra }?.type.sql ?? present?.columns.first { $0.name == extra }?.type
        let hasExtra = typeOfExtra == ColumnType.jsonb.sql
        let hidden = Set(SQLName.ownColumns + (hasExtra ? [extra] : []))
        let properties = names.filter { !hidden.contains($0) }
        var columns = SegmentColumn.base
        if view == "pages" {
            columns += SegmentColumn.page.map {
                $0.property(isColumn: properties.contains($0.name), hasExtra: hasExtra)
            }
        }
        columns += SegmentColumn.context
        let known = Set(columns.map(\.name))
        return columns + properties.filter { !known.contains($0) }.map { SegmentColumn(column: $0) }
    }

    private func change(
        of view: String,
        _ parts: [(source: Source, columns: [SegmentColumn])],
        from existing: PresentViews
    ) throws(PresentViews.Foreign) -> [Change] {
        let mark = "Events of the schema \(schema) in the form of Segment's warehouses; \(PresentViews.maker)."
        let present = try existing.view(view, markedWith: mark)
        let queries = parts.map { part in
            let columns = Self.ordered(part.columns, after: present?.columns ?? [])
            let list = columns.map { "    \($0.sql(event: part.source.event, table: part.source.table.name))" }
            return "SELECT\n\(list.joined(separator: ",\n"))\nFROM \(part.source.table.sqlName)"
        }
        let name = SQLText.identifier(Self.schema) + "." + SQLText.identifier(view)
        let definition = queries.joined(separator: "\nUNION ALL\n")
        let comment = mark + " " + PresentViews.digest(of: definition)
        if present?.comment == comment { return [] }
        return [
            Change(
                view: view,
                statements: [
                    "CREATE OR REPLACE VIEW \(name) AS\n\(definition)",
                    "COMMENT ON VIEW \(name) IS \(SQLText.literal(comment))",
                ]
            )
        ]
    }

    /// The columns in the order of the existing view, and then those that it lacks.
    private static func ordered(_ columns: [SegmentColumn], after present: [PresentViews.Column]) -> [SegmentColumn] {
        let kept = present.map { column in
            columns.first { $0.name == column.name } ?? SegmentColumn(lost: column.name, type: column.type)
        }
        return kept + columns.filter { column in !present.contains { $0.name == column.name } }
    }
}
