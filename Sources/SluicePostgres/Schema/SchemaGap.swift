/// What keeps the tables of a database from accepting the rows of the plan.
package struct SchemaGap: Sendable, Hashable {
    /// The maximum number of missing things that are named; the others are only counted.
    private static let named = 3

    /// What `sluice migrate` adds, as objects of "The database lacks …".
    private var missing: [String] = []
    /// What `sluice migrate` changes, as sentences.
    private var rejections: [String] = []
    /// What `sluice migrate` refuses to change, as sentences with the remedy.
    private var conflicts: [String] = []

    /// Compares the existing tables with those that the plan needs; `nil` if nothing is missing.
    ///
    /// Comments are ignored, because rows can be loaded without them.
    /// Rows can also be loaded without a key by which duplicates are recognized, so it counts as missing only with `includingKeys`.
    package init?(in present: PresentSchema, for wanted: [EventTable], includingKeys: Bool = true) {
        if present.exists {
            for table in wanted { compare(table, present.tables[table.name], includingKeys) }
        } else if !wanted.isEmpty {
            missing = ["the schema \(SQLText.identifier(present.name))"]
        }
        if missing.isEmpty, rejections.isEmpty, conflicts.isEmpty { return nil }
    }

    /// The error message for the operator.
    package var message: String {
        let rest = missing.count - Self.named
        let lack =
            missing.isEmpty
            ? []
            : [
                "The database lacks " + missing.prefix(Self.named).joined(separator: ", ")
                    + (rest > 0 ? " and \(rest) more" : "")
            ]
        let migratable = (rejections.prefix(Self.named) + lack).joined(separator: ". ")
        // A conflict keeps `sluice migrate` from changing any table.
        let remedy = conflicts.isEmpty ? "; run `sluice migrate`." : "; then run `sluice migrate`."
        return (conflicts.prefix(Self.named) + (migratable.isEmpty ? [] : [migratable + remedy])).joined(separator: " ")
    }

    private mutating func compare(_ table: EventTable, _ present: PresentTable?, _ includingKeys: Bool) {
        guard let present else { return missing.append("the table \(table.sqlName)") }
        conflicts += table.collidingColumns.map { column in
            "More than one thing becomes the column \(table.sqlName).\(SQLText.identifier(column)); "
                + "give a property another name."
        }
        for column in table.columns {
            let name = "\(table.sqlName).\(SQLText.identifier(column.name))"
            guard let existing = present.columns.first(where: { $0.name == column.name }) else {
                missing.append("the column \(name)")
                continue
            }
            if !column.accepts(existing.type) {
                conflicts.append(
                    "The column \(name) has type \(existing.type), and the plan needs \(column.type.sql); change the column's "
                        + "type by hand, because `sluice migrate` changes no type, or give the property another name."
                )
            }
            if column.isNullable, !existing.isNullable { reject(existing, name) }
        }
        for column in present.columns where !column.isNullable && !column.hasDefault {
            if !table.columns.contains(where: { $0.name == column.name }) {
                reject(column, "\(table.sqlName).\(SQLText.identifier(column.name))")
            }
        }
        if includingKeys, present.columns.contains(where: { $0.name == "id" }), !present.recognizesDuplicates {
            conflicts.append(
                "The table \(table.sqlName) has no primary key on \"id\", or on \"id\" and \"occurred_at\", so duplicates are "
                    + "not recognized; add the key by hand."
            )
        }
    }

    /// Notes a column that is NOT NULL, although the plan has events without a value for it.
    private mutating func reject(_ column: PresentTable.Column, _ name: String) {
        let sentence = "The column \(name) is NOT NULL, but the plan allows events without a value for it"
        if column.isInPrimaryKey {
            conflicts.append("\(sentence), and it belongs to the primary key; take it out of the key by hand.")
        } else {
            rejections.append(sentence)
        }
    }
}
