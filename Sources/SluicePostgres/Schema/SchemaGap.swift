/// What a database lacks to take the rows of the plan's tables.
package struct SchemaGap: Sendable, Hashable {
    /// How many of the missing things are named; the rest are counted.
    private static let named = 3

    private let missing: [String]

    /// Looks for gaps; `nil` where there are none.
    ///
    /// Comments do not count: rows go in without them.
    package init?(in present: PresentSchema, for wanted: [EventTable]) {
        guard present.exists || wanted.isEmpty else {
            missing = ["the schema \(SQLText.identifier(present.name))"]
            return
        }
        missing = wanted.flatMap { Self.missing($0, present.tables[$0.name]) }
        if missing.isEmpty { return nil }
    }

    /// The sentence for the operator.
    package var message: String {
        let rest = missing.count - Self.named
        return "The database lacks " + missing.prefix(Self.named).joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "") + "; run `sluice migrate`."
    }

    private static func missing(_ table: EventTable, _ present: PresentTable?) -> [String] {
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
            if existing.type != column.type.sql {
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
        if present.columns.first(where: { $0.name == "id" })?.isUnique == false {
            missing.append("a primary key of \(table.sqlName) on \"id\" alone")
        }
        return missing
    }
}
