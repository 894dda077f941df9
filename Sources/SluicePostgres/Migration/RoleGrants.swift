/// What `PostgresTracker` lists as the privileges that its role needs, as statements.
struct RoleGrants {
    let role: String
    let schema: String
    /// The database that the migrator is connected to.
    let database: String
    /// The columns of the key that a table gets when it is created.
    var keyOfNewTable = ["id"]

    /// The statements for the plan's tables, and for those of Sluice's own tables that `exists` is true for.
    ///
    /// Default privileges cannot be limited to columns, so they let the role read the tables that are created later.
    func statements(for tables: [EventTable], in present: PresentSchema, exists: (String) -> Bool) -> [String] {
        let role = SQLText.identifier(role)
        let own =
            [(name: CheckpointTable.name, privileges: ["SELECT", "INSERT", "UPDATE"])]
            + LoaderTable.all.map { (name: $0.name, privileges: $0.privileges) } + RecentIDs.tables
            + [(name: ErasureStatements.tombstones, privileges: ["SELECT"])]
        let schema = SQLText.identifier(schema)
        var statements = [
            "GRANT TEMPORARY ON DATABASE \(SQLText.identifier(database)) TO \(role)",
            "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
        ]
        statements += tables.map { table in
            let key = present.tables[table.name].map { $0.eventKey.isEmpty ? ["id"] : $0.eventKey } ?? keyOfNewTable
            let columns = key.map(SQLText.identifier).joined(separator: ", ")
            return "GRANT INSERT, SELECT (\(columns)) ON \(table.sqlName) TO \(role)"
        }
        statements += own.filter { exists($0.name) }.map { table in
            let privileges = table.privileges.joined(separator: ", ")
            return "GRANT \(privileges) ON \(schema).\(SQLText.identifier(table.name)) TO \(role)"
        }
        statements.append("ALTER DEFAULT PRIVILEGES IN SCHEMA \(schema) GRANT INSERT, SELECT ON TABLES TO \(role)")
        return statements
    }
}
