import TrackerKit

/// One run of the migrator over one connection.
struct MigrationRun {
    let connection: PostgresConnection
    let schema: String
    /// The partitions of new tables; none for tables without partitions.
    let partitions: [TimePartition]
    let limit: WaitLimit

    /// Applies the migrations, changes the tables, and makes the additions, while it holds the lock.
    ///
    /// Throws errors of the connection; any other error is in the result.
    func bringUp(
        to tables: [EventTable],
        applying migrations: [Migration],
        with additions: MigrationAdditions
    ) throws(PostgresFailure) -> Result<MigrationReport, TrackerError> {
        try connection.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0", limit)
        return try Self.settle { () throws in
            var report = MigrationReport()
            try lock()
            try apply(migrations, &report)
            try change(to: tables, &report)
            if let views = additions.segmentViews { try make(views, &report) }
            if let role = additions.grantee { try grant(to: role, tables, &report) }
            if additions.makesRoles { try makeRoles(tables, &report) }
            return report
        }
    }

    /// Returns what `bringUp` would run, in a read-only transaction.
    ///
    /// Throws errors of the connection; any other error is in the result.
    func foresee(
        _ tables: [EventTable],
        applying migrations: [Migration],
        with additions: MigrationAdditions
    ) throws(PostgresFailure) -> Result<MigrationScript, TrackerError> {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", limit)
        let script = try Self.settle { () throws in
            let pending = try pending(migrations)
            // Migrations that are not applied yet may create any of Sluice's own tables.
            return MigrationScript(
                schema: schema,
                migrations: pending,
                tables: try changes(to: tables).tables,
                additions: try steps(of: additions, tables) { _ in !pending.isEmpty }
            )
        }
        try connection.execute("ROLLBACK", limit)
        return script
    }

    static func settle<Value>(
        _ work: () throws -> Value
    ) throws(PostgresFailure) -> Result<Value, TrackerError> {
        do {
            return .success(try work())
        } catch let error as TrackerError {
            return .failure(error)
        } catch let error as PostgresFailure {
            throw error
        } catch {
            return .failure(
                TrackerError(code: .failed, message: "The migration failed.", isRetryable: false, underlying: error)
            )
        }
    }

    /// Waits for the lock, which is released with the connection.
    func lock() throws {
        try connection.execute("SET lock_timeout = '60s'", limit)
        do throws(PostgresFailure) {
            try connection.execute(MigrationSteps.lock(schema), limit)
        } catch {
            guard error.sqlState == "55P03" else { throw error }
            throw TrackerError(
                code: .timeout,
                message: "Another `sluice migrate` or `sluice maintain` of this schema is running.",
                isRetryable: true,
                underlying: error
            )
        }
        try connection.execute(MigrationSteps.patience, limit)
    }

    // MARK: Migrations

    private func apply(_ migrations: [Migration], _ report: inout MigrationReport) throws {
        for migration in try pending(migrations) {
            try step("\(migration.name) failed") { () throws(PostgresFailure) in
                try apply(migration)
            }
            report.migrations.append(migration.name)
        }
    }

    private func pending(_ migrations: [Migration]) throws -> [Migration] {
        do {
            return try MigrationHistory.pending(migrations, after: try appliedMigrations())
        } catch let mismatch as MigrationHistory.Mismatch {
            throw TrackerError(code: .failed, message: mismatch.message, isRetryable: false)
        }
    }

    private func appliedMigrations() throws(PostgresFailure) -> [AppliedMigration] {
        let table = MigrationSteps.record(of: schema)
        let found = try connection.rows(
            of: "SELECT to_regclass($1) IS NOT NULL",
            parameters: [table],
            limit
        )
        guard found.first?.first == "t" else { return [] }
        let rows = try connection.rows(
            of: "SELECT number, name, sha256 FROM \(table) ORDER BY number",
            parameters: [],
            limit
        )
        return rows.compactMap { row in
            guard let number = row[0].flatMap({ Int($0) }), let name = row[1], let digest = row[2] else { return nil }
            return AppliedMigration(number: number, name: name, sha256: digest)
        }
    }

    private func apply(_ migration: Migration) throws(PostgresFailure) {
        try connection.execute(MigrationSteps.opening(schema), limit)
        try connection.execute(migration.sql, limit)
        guard connection.isInTransaction else {
            throw PostgresFailure(
                source: .server,
                sqlState: "25P01",
                message: "a migration must not end the transaction that it runs in"
            )
        }
        try connection.execute(MigrationSteps.closing(migration, schema), limit)
    }

    // MARK: Tables

    private func change(to tables: [EventTable], _ report: inout MigrationReport) throws {
        let changes = try changes(to: tables)
        for change in changes.tables {
            try step("The table \(SQLText.identifier(change.table)) was not changed") { () throws(PostgresFailure) in
                try connection.execute(MigrationSteps.transaction(change), limit)
            }
            if change.isNew {
                report.createdTables.append(change.table)
            } else {
                report.extendedTables.append(change.table)
            }
        }
    }

    private func changes(to tables: [EventTable]) throws -> SchemaChanges {
        let changes = SchemaChanges(
            from: try connection.presentSchema(named: schema, limit),
            to: tables,
            dividedInto: partitions,
            usingLZ4: try connection.canCompressWithLZ4(limit)
        )
        guard changes.conflicts.isEmpty else {
            throw TrackerError(
                code: .failed,
                message: changes.conflicts.joined(separator: " ") + " Nothing was changed: rename the property, "
                    + "or change the table by hand.",
                isRetryable: false
            )
        }
        return changes
    }

    // MARK: Privileges

    private func grant(to role: String, _ tables: [EventTable], _ report: inout MigrationReport) throws {
        let statements = try grants(to: role, tables) { _ in false }
        try step("The privileges were not granted to \(SQLText.identifier(role))") { () throws(PostgresFailure) in
            try connection.execute(MigrationSteps.transaction(of: statements), limit)
        }
        report.grantedRole = role
    }

    /// The statements for a role; `exists` says which of Sluice's tables count as existing besides those that do.
    func grants(
        to role: String,
        _ tables: [EventTable],
        or exists: (String) -> Bool
    ) throws(PostgresFailure) -> [String] {
        let present = try connection.presentSchema(named: schema, limit)
        let database = try connection.lastRows(of: "SELECT current_database()", limit).first?.first ?? nil
        return RoleGrants(role: role, schema: schema, database: database ?? "", keyOfNewTable: keyOfNewTable)
            .statements(for: tables, in: present) { present.tables[$0] != nil || exists($0) }
    }

    /// The columns of the key of a table that this run creates.
    var keyOfNewTable: [String] { partitions.isEmpty ? ["id"] : ["occurred_at", "id"] }

    /// Adds to a server's error what was being done.
    func step(_ failed: String, _ body: () throws(PostgresFailure) -> Void) throws {
        do throws(PostgresFailure) {
            try body()
        } catch {
            guard error.source == .server else { throw error }
            let state = error.sqlState.map { " (SQLSTATE \($0))" } ?? ""
            throw TrackerError(
                code: .failed,
                message: "\(failed): \(error.message)\(state).\(Self.advice(on: error))",
                isRetryable: PostgresErrorClass(error) == .unavailable,
                underlying: error
            )
        }
    }

    /// What to do about an error that its message does not say; empty if nothing is known.
    private static func advice(on failure: PostgresFailure) -> String {
        switch failure.sqlState {
        case "54011":
            """
             A table has at most 1600 columns, including those that were dropped, and each property is one: declare properties that \
            belong together as one property of type 'object', which is one jsonb column, or split the event.
            """
        case "25006":
            " The server is a standby, which accepts no writes; connect to the primary."
        case "42501": " Run the command as a role that owns the schema and its tables."
        case "42704" where failure.message.contains("role"): " Create the role first: CREATE ROLE … LOGIN;"
        default: ""
        }
    }
}

extension PostgresConnection {
    /// Whether the server can compress values with lz4, which needs version 14 and a build with the library.
    fileprivate func canCompressWithLZ4(_ limit: WaitLimit) throws(PostgresFailure) -> Bool {
        let query = "SELECT 'lz4' = ANY (enumvals) FROM pg_catalog.pg_settings WHERE name = 'default_toast_compression'"
        return try lastRows(of: query, limit).first?.first == "t"
    }
}
