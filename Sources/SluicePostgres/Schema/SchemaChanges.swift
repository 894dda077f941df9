/// What it takes to make a database hold the plan's tables.
///
/// Nothing is ever dropped, and no type is changed: where the two cannot be brought together that way, it is a
/// conflict, and somebody has to decide.
package struct SchemaChanges: Sendable, Hashable {
    /// The statements for one table; they belong into one transaction.
    package struct TableChange: Sendable, Hashable {
        package var table: String
        /// Whether the table is made; otherwise it is extended.
        package var isNew: Bool
        package var statements: [String]
    }

    /// The changes, in the plan's order; tables that need none are left out.
    package private(set) var tables: [TableChange] = []
    /// Sentences on what cannot be brought together, each with its table.
    package private(set) var conflicts: [String] = []

    /// Compares the plan's tables with what is there.
    package init(from present: PresentSchema, to wanted: [EventTable]) {
        for table in wanted {
            conflicts += table.collidingColumns.map { column in
                "More than one thing becomes the column \(table.sqlName).\(SQLText.identifier(column)); "
                    + "give a property another name."
            }
            guard let existing = present.tables[table.name] else {
                tables.append(Self.creation(of: table))
                continue
            }
            conflicts += Self.conflicts(of: table, with: existing)
            let statements = Self.extension(of: existing, to: table)
            if !statements.isEmpty {
                tables.append(TableChange(table: table.name, isNew: false, statements: statements))
            }
        }
    }

    private static func creation(of table: EventTable) -> TableChange {
        let columns = table.columns.map { column in
            "    \(SQLText.identifier(column.name)) \(column.type.sql)"
                + (column.name == "id" ? " PRIMARY KEY" : column.isNullable ? "" : " NOT NULL")
        }
        var statements = ["CREATE TABLE \(table.sqlName) (\n\(columns.joined(separator: ",\n"))\n)"]
        if let comment = table.comment { statements.append(self.comment(comment, on: table)) }
        for column in table.columns {
            if let comment = column.comment { statements.append(self.comment(comment, on: column, of: table)) }
        }
        return TableChange(table: table.name, isNew: true, statements: statements)
    }

    private static func `extension`(of existing: PresentTable, to table: EventTable) -> [String] {
        let present = Dictionary(existing.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let wanted = Set(table.columns.map(\.name))
        var statements: [String] = []
        for column in table.columns where present[column.name] == nil {
            // The rows that are there have no value for it, so it is nullable whatever the plan says.
            statements.append(alteration(of: table, "ADD COLUMN \(SQLText.identifier(column.name)) \(column.type.sql)"))
        }
        for column in existing.columns where !column.isNullable && column.name != "id" {
            let planned = table.columns.first { $0.name == column.name }
            // A column that the plan leaves out now, or lets be absent, must not refuse the rows without it.
            let mayBeAbsent = planned?.isNullable ?? (!wanted.contains(column.name) && !column.hasDefault)
            if mayBeAbsent {
                let name = SQLText.identifier(column.name)
                statements.append(alteration(of: table, "ALTER COLUMN \(name) DROP NOT NULL"))
            }
        }
        if let comment = table.comment, comment != existing.comment {
            statements.append(self.comment(comment, on: table))
        }
        for column in table.columns {
            if let comment = column.comment, comment != present[column.name]?.comment {
                statements.append(self.comment(comment, on: column, of: table))
            }
        }
        return statements
    }

    private static func conflicts(of table: EventTable, with existing: PresentTable) -> [String] {
        var conflicts: [String] = []
        for column in table.columns {
            guard let present = existing.columns.first(where: { $0.name == column.name }) else { continue }
            if present.type != column.type.sql {
                conflicts.append(
                    "Column \(table.sqlName).\(SQLText.identifier(column.name)) has type \(present.type), "
                        + "and the plan wants \(column.type.sql)."
                )
            }
        }
        if existing.columns.first(where: { $0.name == "id" })?.isUnique != true {
            conflicts.append(
                "Table \(table.sqlName) has no primary key on \"id\" alone, and duplicates are told by it."
            )
        }
        return conflicts
    }

    private static func alteration(of table: EventTable, _ action: String) -> String {
        "ALTER TABLE \(table.sqlName) \(action)"
    }

    private static func comment(_ text: String, on table: EventTable) -> String {
        "COMMENT ON TABLE \(table.sqlName) IS \(SQLText.literal(text))"
    }

    private static func comment(_ text: String, on column: EventTable.Column, of table: EventTable) -> String {
        "COMMENT ON COLUMN \(table.sqlName).\(SQLText.identifier(column.name)) IS \(SQLText.literal(text))"
    }
}
