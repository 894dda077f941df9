/// The changes that make a database's tables match the plan.
///
/// Nothing is ever dropped, and no type is changed: a difference that would need that is a conflict, which a person has to
/// resolve.
package struct SchemaChanges: Sendable, Hashable {
    /// The statements for one table, which run in one transaction.
    package struct TableChange: Sendable, Hashable {
        package var table: String
        /// Whether the table is created; otherwise it is altered.
        package var isNew: Bool
        package var statements: [String]
    }

    /// The changes, in the plan's order; tables that need none are omitted.
    package private(set) var tables: [TableChange] = []
    /// A sentence for each difference that cannot be resolved, with its table.
    package private(set) var conflicts: [String] = []

    /// Compares the plan's tables with the existing ones; a new table gets the partitions, and has the key `id` if there are none.
    package init(from present: PresentSchema, to wanted: [EventTable], dividedInto partitions: [TimePartition] = []) {
        for table in wanted {
            conflicts += table.collidingColumns.map { column in
                "More than one thing becomes the column \(table.sqlName).\(SQLText.identifier(column)); "
                    + "give a property another name."
            }
            guard let existing = present.tables[table.name] else {
                tables.append(Self.creation(of: table, partitions))
                continue
            }
            conflicts += Self.conflicts(of: table, with: existing)
            let statements = Self.extension(of: existing, to: table)
            if !statements.isEmpty {
                tables.append(TableChange(table: table.name, isNew: false, statements: statements))
            }
        }
    }

    private static func creation(of table: EventTable, _ partitions: [TimePartition]) -> TableChange {
        let isPartitioned = !partitions.isEmpty
        var lines = table.columns.map { column in
            "    \(SQLText.identifier(column.name)) \(column.type.sql)"
                + (column.name == "id" && !isPartitioned ? " PRIMARY KEY" : column.isNullable ? "" : " NOT NULL")
        }
        if isPartitioned { lines.append("    PRIMARY KEY (occurred_at, id)") }
        let division = isPartitioned ? " PARTITION BY RANGE (occurred_at)" : ""
        var statements = ["CREATE TABLE \(table.sqlName) (\n\(lines.joined(separator: ",\n"))\n)\(division)"]
        if let comment = table.comment { statements.append(self.comment(comment, on: table)) }
        for column in table.columns {
            if let comment = column.comment { statements.append(self.comment(comment, on: column, of: table)) }
        }
        if isPartitioned {
            statements.append("CREATE INDEX ON \(table.sqlName) (user_id, occurred_at)")
            let schema = TimePartition.schema(besides: table.schema)
            statements.append(SQLText.creationIfMissing(ofSchema: schema))
            statements += partitions.map { partition in
                let name = SQLText.identifier(schema) + "." + SQLText.identifier(partition.name(of: table.name))
                return "CREATE TABLE \(name) PARTITION OF \(table.sqlName) FOR VALUES \(partition.bounds)"
            }
        }
        return TableChange(table: table.name, isNew: true, statements: statements)
    }

    private static func `extension`(of existing: PresentTable, to table: EventTable) -> [String] {
        let present = Dictionary(existing.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let wanted = Set(table.columns.map(\.name))
        var statements: [String] = []
        for column in table.columns where present[column.name] == nil {
            // The existing rows have no value for it, so the column is nullable even if the plan requires the property.
            statements.append(alteration(of: table, "ADD COLUMN \(SQLText.identifier(column.name)) \(column.type.sql)"))
        }
        for column in existing.columns where !column.isNullable && column.name != "id" {
            let planned = table.columns.first { $0.name == column.name }
            // If the plan no longer has a column, or makes it optional, the column must not reject rows without it.
            let mayBeAbsent = planned?.isNullable ?? (!wanted.contains(column.name) && !column.hasDefault)
            // A column of the primary key cannot be nullable, which is a conflict.
            if mayBeAbsent, !column.isInPrimaryKey {
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
            if !column.accepts(present.type) {
                conflicts.append(
                    "Column \(table.sqlName).\(SQLText.identifier(column.name)) has type \(present.type), "
                        + "and the plan wants \(column.type.sql)."
                )
            }
        }
        for column in existing.columns where column.isInPrimaryKey && !column.hasDefault {
            guard table.columns.first(where: { $0.name == column.name })?.isNullable ?? true else { continue }
            conflicts.append(
                "Column \(table.sqlName).\(SQLText.identifier(column.name)) belongs to the primary key, and the plan allows "
                    + "events without a value for it."
            )
        }
        if !existing.recognizesDuplicates {
            conflicts.append(
                "Table \(table.sqlName) has no primary key on \"id\", or on \"id\" and \"occurred_at\", by which "
                    + "duplicates are recognized."
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
