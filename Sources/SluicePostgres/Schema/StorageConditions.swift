import TrackerKit

/// What keeps rows from being stored, or from staying stored, in tables that have all columns and privileges.
package struct StorageConditions: Sendable {
    /// Whether the server is a standby, which accepts no writes.
    package var isStandby = false
    /// The tables that a crash of the server empties.
    package var unloggedTables: Set<String> = []
    /// The tables whose row-level security applies to the role and has no policy that lets it insert.
    package var closedTables: Set<String> = []

    package init() {}

    /// Selects the state of the server, and the tables of the schema `$1` with such a condition.
    ///
    /// A partitioned table is unlogged if one of its partitions is.
    static let query = """
        SELECT pg_catalog.pg_is_in_recovery(), c.relname,
            c.relpersistence = 'u' OR EXISTS (SELECT FROM pg_catalog.pg_partition_tree(c.oid) t
                JOIN pg_catalog.pg_class p ON p.oid = t.relid WHERE p.relpersistence = 'u'),
            row_security_active(c.oid) AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p
                WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd IN ('a', '*')
                    AND EXISTS (SELECT FROM unnest(p.polroles) r WHERE r = 0 OR pg_has_role(r, 'USAGE')))
        FROM (SELECT) server
        LEFT JOIN (pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1)
            ON c.relkind IN ('r', 'p')
        """

    /// Creates it from the result of `query`.
    init(rows: [[String?]]) {
        for row in rows where row.count == 4 {
            isStandby = row[0] == "t"
            guard let table = row[1] else { continue }
            if row[2] == "t" { unloggedTables.insert(table) }
            if row[3] == "t" { closedTables.insert(table) }
        }
    }

    /// The error that a standby is.
    var standby: TrackerError? {
        guard isStandby else { return nil }
        return TrackerError(
            code: .misconfigured,
            message: """
                The server is a standby, which accepts no writes; connect to the primary, or list all servers in the connection \
                string and add target_session_attrs=read-write to it.
                """,
            isRetryable: false
        )
    }

    /// Why a table accepts no rows; `nil` if none of these conditions is the reason.
    func reason(against name: String, sqlName: String, role: String) -> TrackerError? {
        guard closedTables.contains(name) else { return nil }
        return TrackerError(
            code: .misconfigured,
            message: """
                The row-level security of the table \(sqlName) has no policy that lets the role \(role) insert; run: CREATE POLICY \
                sluice_insert ON \(sqlName) FOR INSERT TO \(role) WITH CHECK (true);
                """,
            isRetryable: false
        )
    }

    /// That a crash of the server empties a table; `nil` if it does not.
    func loss(of name: String, sqlName: String) -> TrackerError? {
        guard unloggedTables.contains(name) else { return nil }
        return TrackerError(
            code: .misconfigured,
            message: """
                The table \(sqlName), or one of its partitions, is UNLOGGED, so PostgreSQL empties it after a crash, and events that \
                count as delivered are lost; run: ALTER TABLE \(sqlName) SET LOGGED;
                """,
            isRetryable: false
        )
    }
}
