import TrackerKit

/// The tables with the ids of recent events whose time could differ in another attempt to send them, and the statements for them.
///
/// Two attempts to send such an event can have different times, and a table whose key contains the time would store both. There are two
/// halves, of which one gets new ids; the halves are exchanged when that has been so for `exchangeInterval`, and an id is remembered
/// for at least as long.
struct RecentIDs: Sendable {
    /// The tables, and what a role needs on each.
    static let tables: [(name: String, privileges: [String])] = [
        ("_sluice_recent_ids", ["SELECT", "INSERT"]),
        ("_sluice_recent_ids_0", ["TRUNCATE"]),
        ("_sluice_recent_ids_1", ["TRUNCATE"]),
        ("_sluice_recent_ids_current", ["SELECT", "UPDATE"]),
    ]
    /// How often a session looks whether the halves are to be exchanged.
    static let exchangeCheckInterval = Duration.seconds(3600)
    /// How long an exchange waits for transactions that use the tables.
    private static let exchangeLockTime = Duration.seconds(10)
    /// The first half of the advisory lock's key; the second is a hash of the schema.
    private static let lockClass = 0x736C_7269

    let schema: String

    init(schema: String) {
        self.schema = schema
    }

    /// Whether the rows of a table with this key need the ids: it recognizes an event only if its time is the same.
    static func areNeeded(forKey key: [String]) -> Bool { key.contains("occurred_at") }

    /// Whether the tables exist in a schema, and the role may use them in a transaction that loads rows.
    static func areUsable(in present: PresentSchema) -> Bool {
        tables.filter { $0.privileges.contains("SELECT") }.allSatisfy { table in
            guard let columns = present.tables[table.name]?.columns, !columns.isEmpty else { return false }
            let wanted = Set(table.privileges).intersection(["SELECT", "INSERT"])
            return columns.allSatisfy { $0.privileges.isSuperset(of: wanted) }
        }
    }

    private func sqlName(_ name: String) -> String {
        SQLText.identifier(schema) + "." + SQLText.identifier(name)
    }

    private var ids: String { sqlName("_sluice_recent_ids") }
    private var current: String { sqlName("_sluice_recent_ids_current") }
    private var lockKey: String { "\(Self.lockClass), hashtext(\(SQLText.literal(schema)))" }

    /// Keeps the halves as they are until the end of the transaction.
    ///
    /// Otherwise two transactions could store one id in different halves, in which no key prevents that.
    var lock: String { "SELECT pg_advisory_xact_lock_shared(\(lockKey))" }

    /// The common table expressions that store the ids of the staged rows of a table, and select, as `fresh`, the first row of each id
    /// that was not stored.
    ///
    /// The order is that of the key, so that two transactions cannot deadlock. It is one line, because `RowSearch` reads the first line
    /// of the server's context.
    func store(from staging: String, place: String, of table: String, where condition: String) -> String {
        let table = SQLText.literal(table)
        return """
            WITH turn AS MATERIALIZED (SELECT half FROM \(current)), \
            earliest AS MATERIALIZED ( \
                SELECT DISTINCT ON (s.id) s.id, s.\(place) AS place FROM pg_temp.\(staging) s \
                WHERE (\(condition)) AND NOT EXISTS ( \
                    SELECT FROM \(ids) r WHERE r.id = s.id AND r.event_table = \(table) \
                        AND r.half <> (SELECT half FROM turn)) \
                ORDER BY s.id, s.\(place) \
            ), \
            stored AS ( \
                INSERT INTO \(ids) (half, id, event_table) \
                SELECT (SELECT half FROM turn), f.id, \(table) FROM earliest f ORDER BY f.id \
                ON CONFLICT (id, event_table, half) DO NOTHING RETURNING id \
            ), \
            fresh AS (SELECT f.place FROM earliest f JOIN stored USING (id))
            """
    }

    /// Begins a transaction that may exchange the halves, and selects the half to empty if that is due.
    var beginExchange: String {
        """
        BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = \(Self.exchangeLockTime.milliseconds);
        SELECT pg_advisory_xact_lock(\(lockKey));
        SELECT 1 - half FROM \(current) WHERE since <= now() - interval '7 days'
        """
    }

    /// Whether an exchange is due, without a lock.
    var isExchangeDue: String { "SELECT FROM \(current) WHERE since <= now() - interval '7 days'" }

    /// Empties a half, makes it the current one, and commits.
    func exchange(half: Int) -> String {
        """
        TRUNCATE \(sqlName("_sluice_recent_ids_\(half)"));
        UPDATE \(current) SET half = \(half), since = now(); COMMIT
        """
    }

    /// Selects each of the tables on which the role lacks a privilege.
    var tablesWithoutPrivilege: String {
        let tables = Self.tables.map {
            "(\(SQLText.literal($0.name)), \(SQLText.literal(sqlName($0.name))), "
                + "ARRAY[\($0.privileges.map(SQLText.literal).joined(separator: ", "))])"
        }
        return """
            SELECT t.name FROM (VALUES \(tables.joined(separator: ", "))) t (name, sql, privileges)
            WHERE EXISTS (SELECT FROM unnest(t.privileges) p WHERE NOT has_table_privilege(t.sql, p))
            """
    }

    /// What a role lacks on one of the tables, as an error.
    func missingPrivilege(on name: String, role: String) -> TrackerError {
        let privileges = Self.tables.first { $0.name == name }?.privileges ?? []
        return .missingPrivilege(
            "The role \(role) may not remember recent ids",
            grant: "\(privileges.joined(separator: ", ")) ON \(sqlName(name)) TO \(role)"
        )
    }

    /// What one of the tables is missing for, as an error; `nil` if all exist.
    func missingTable(in present: PresentSchema) -> TrackerError? {
        Self.tables.first { present.tables[$0.name] == nil }.map { .missing(table: sqlName($0.name)) }
    }
}
