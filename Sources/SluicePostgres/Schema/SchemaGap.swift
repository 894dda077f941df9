/// The tables and columns that a database lacks to accept the rows of the plan.
package struct SchemaGap: Sendable, Hashable {
    /// The maximum number of missing things that are named; the others are only counted.
    private static let named = 3

    private let missing: [String]

    /// Compares the existing tables with those that the plan needs; `nil` if nothing is missing.
    ///
    /// Comments are ignored, because rows can be loaded without them.
    /// Rows can also be loaded without a key by which duplicates are recognized, so it counts as missing only with `includingKeys`.
    package init?(in present: PresentSchema, for wanted: [EventTable], includingKeys: Bool = true) {
        guard present.exists || wanted.isEmpty else {
            missing = ["the schema \(SQLText.identifier(present.name))"]
            return
        }
        missing = wanted.flatMap { Self.missing($0, present.tables[$0.name], includingKeys) }
        if missing.isEmpty { return nil }
    }

    /// The error message for the operator.
    package var message: String {
        let rest = missing.count - Self.named
        return "The database lacks " + missing.prefix(Self.named).joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "") + "; run `sluice migrate`."
    }

    private static func missing(_ table: EventTable, _ present: PresentTable?, _ includingKeys: Bool) -> [String] {
        guard let present else { return ["the table \(table.sqlName)"] }
        var missing = table.collidingColumns.map { column in
            "a column for each of the things that become \(table.sqlName).\(SQLText.identifier(column))"
        }
        for column in table.columns {
            let name = "\(table.sqlName).\(SQLText.identifier(column.name))"
            guard let existing = present.columns.first(where: { $0.name == column.name }) else {
                missing.append("the column \(name)")
                continue
            }
            if !column.accepts(existing.type) {
                missing.append("type \(column.type.sql) in the column \(name), which has \(existing.type)")
            }
            if column.isNullable, !existing.isNullable {
                missing.append("NULL in the column \(name)")
            }
        }
        for column in present.columns where !column.isNullable && !column.hasDefault {
            if !table.columns.contains(where: { $0.name == column.name }) {
                missing.append("NULL in the column \(table.sqlName).\(SQLText.identifier(column.name))")
            }
        }
        if includingKeys, present.columns.contains(where: { $0.name == "id" }), !present.recognizesDuplicates {
            missing.append("a primary key of \(table.sqlName) on \"id\", or on \"id\" and \"occurred_at\"")
        }
        return missing
    }
}
