import EventModel

/// The statements that put a partitioned table in the place of a table, and attach that as its first partition.
struct TableExchange {
    let table: EventTable
    let found: ConvertibleTable
    let partitionSchema: String
    /// The day that the first partition ends before.
    let end: CalendarDate

    /// The name of the first partition.
    var oldName: String {
        TimePartition.name(of: table.name, suffix: "_until_" + "\(end)".dropLast(3).replacing("-", with: "_"))
    }

    private var old: String { SQLText.identifier(partitionSchema) + "." + SQLText.identifier(oldName) }

    /// The statements, for a transaction in which the table and its views are locked.
    var statements: [String] {
        let bound = found.bound.map { SQLText.identifier($0) } ?? ""
        let schema = SQLText.identifier(partitionSchema)
        var statements = [
            "ALTER TABLE \(table.sqlName) SET SCHEMA \(schema)",
            "ALTER TABLE \(schema).\(SQLText.identifier(table.name)) RENAME TO \(SQLText.identifier(oldName))",
        ]
        statements += keyOfOldTable
        statements += [
            """
            CREATE TABLE \(table.sqlName) (LIKE \(old) INCLUDING ALL EXCLUDING INDEXES EXCLUDING IDENTITY) \
            PARTITION BY RANGE (occurred_at)
            """,
            "ALTER TABLE \(table.sqlName) DROP CONSTRAINT \(bound)",
            "ALTER TABLE \(table.sqlName) ADD PRIMARY KEY (\(TableConversion.key.joined(separator: ", ")))",
        ]
        statements += otherIndexes + privileges
        if let comment = found.comment {
            statements.append("COMMENT ON TABLE \(table.sqlName) IS \(SQLText.literal(comment))")
        }
        statements += found.views.map { view in
            let options = view.options.isEmpty ? "" : " WITH (\(view.options))"
            return "CREATE OR REPLACE VIEW \(view.sqlName)\(options) AS \(view.definition)"
        }
        return statements + [
            "ALTER TABLE \(table.sqlName) OWNER TO \(found.owner)",
            "ALTER TABLE \(table.sqlName) ATTACH PARTITION \(old) FOR VALUES FROM (MINVALUE) TO ('\(end)T00:00:00Z')",
            "ALTER TABLE \(old) DROP CONSTRAINT \(bound)",
        ]
    }

    private func isKey(_ index: ConvertibleTable.Index) -> Bool {
        index.isValid && !index.isPartial && index.isUnique && index.columns == TableConversion.key
    }

    /// Gives the old table the key of the new one, from the index that was made.
    private var keyOfOldTable: [String] {
        guard !found.indexes.contains(where: { $0.isPrimary && isKey($0) }) else { return [] }
        let primary = found.indexes.first(where: \.isPrimary)?.constraint
        let dropping = primary.map { "ALTER TABLE \(old) DROP CONSTRAINT \(SQLText.identifier($0))" }
        guard let index = found.indexes.first(where: isKey) else { return [] }
        // An index of a constraint is the key of its constraint already.
        return (dropping.map { [$0] } ?? []) + [
            "ALTER TABLE \(old) ADD PRIMARY KEY USING INDEX \(SQLText.identifier(index.name))"
        ]
    }

    /// The indexes that do not make anything unique; each partition to come gets them, and the old table has them.
    private var otherIndexes: [String] {
        found.indexes.filter { $0.isValid && !$0.isUnique }.map { index in
            "CREATE INDEX \(SQLText.identifier(index.name)) ON \(table.sqlName)\(index.definition)"
        }
    }

    private var privileges: [String] {
        // Default privileges can have given more.
        let body = """
            DECLARE
                grantee text;
            BEGIN
                FOR grantee IN
                    SELECT DISTINCT CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::pg_catalog.regrole::text END
                    FROM pg_catalog.pg_class c, aclexplode(c.relacl) x
                    WHERE c.oid = \(SQLText.literal(table.sqlName))::pg_catalog.regclass AND x.grantee <> c.relowner
                LOOP
                    EXECUTE \(SQLText.literal("REVOKE ALL ON \(table.sqlName) FROM ")) || grantee;
                END LOOP;
            END
            """
        var granted = found.grants
        // The loader reads the columns of the key.
        granted += found.grants.filter { $0.privilege == "SELECT" && $0.column == "id" }.map {
            ConvertibleTable.Grant(
                role: $0.role,
                privilege: $0.privilege,
                isGrantable: $0.isGrantable,
                column: "occurred_at"
            )
        }
        return ["DO \(SQLText.literal(body))"]
            + granted.map { grant in
                let column = grant.column.map { " (\(SQLText.identifier($0)))" } ?? ""
                return "GRANT \(grant.privilege)\(column) ON \(table.sqlName) TO \(grant.role)"
                    + (grant.isGrantable ? " WITH GRANT OPTION" : "")
            }
    }
}
