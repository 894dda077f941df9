import EventModel
import EventValidation
import TrackerKit

/// The statements that find and erase people's rows.
///
/// Identifiers are always parameters. Those that stand for several are arrays in the server's text format (`array`).
struct ErasureStatements {
    let schema: String

    /// The table of the tombstones.
    static let tombstones = "_sluice_forgotten"
    private static let counts = "_sluice_erased"

    /// A table that has events.
    struct Table: Sendable {
        let schema: String
        let name: String
        /// The columns whose values are removed, so that the rows are kept; `nil` if the rows are deleted.
        var emptied: [EmptiedColumn]?

        var keepsRows: Bool { emptied != nil }
        var sqlName: String { SQLText.identifier(schema) + "." + SQLText.identifier(name) }
        /// As a receipt names it.
        var place: String { "\(schema).\(name)" }
    }

    // MARK: Tables

    /// Selects schema and name of the tables that have rows of events, also of events that the plan no longer has.
    ///
    /// A table has them if it has the columns of every event. Partitions are reached through their table, except one whose
    /// detachment has begun.
    var tables: String {
        let columns = EventTable.ownColumns.map { column in
            "(\(SQLText.literal(column.name)), \(SQLText.literal(column.type.sql))::regtype)"
        }
        return """
            SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN (\(SQLText.literal(schema)), \(SQLText.literal(TimePartition.schema(besides: schema))))
                AND c.relkind IN ('r', 'p')
                AND (NOT c.relispartition OR EXISTS (SELECT FROM pg_catalog.pg_inherits i
                    WHERE i.inhrelid = c.oid AND to_jsonb(i) ->> 'inhdetachpending' = 'true'))
                AND NOT EXISTS (SELECT FROM (VALUES \(columns.joined(separator: ", "))) wanted (name, type)
                    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
                        AND NOT a.attisdropped AND a.attname = wanted.name AND a.atttypid = wanted.type))
            ORDER BY 1, 2
            """
    }

    /// Selects the transactions that are writing to the tables `$1`.
    ///
    /// Those that write to a partition through its table have locked the table as well. A lock that waited for them would have to
    /// conflict with theirs, so that loaders would wait behind it, and vacuuming would conflict with it.
    static let writers = """
        SELECT DISTINCT virtualtransaction FROM pg_catalog.pg_locks
        WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND relation = ANY ($1::regclass[]::oid[])
            AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
        """

    /// Selects those of the transactions `$1` that have not ended, after a pause.
    static let unfinished = """
        SELECT DISTINCT virtualtransaction FROM pg_sleep(0.1), pg_catalog.pg_locks WHERE virtualtransaction = ANY ($1::text[])
        """

    /// Selects the columns of the table `$1` that an UPDATE can set: the name, whether it is NOT NULL, whether it has a default, whether
    /// it belongs to the primary key, and the type.
    ///
    /// The server computes generated columns again. It has chosen the values of identity columns itself, so they are kept.
    static let columns = """
        SELECT a.attname, a.attnotnull, a.atthasdef, EXISTS (SELECT FROM pg_catalog.pg_index i
            WHERE i.indrelid = a.attrelid AND i.indisprimary
                AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])), format_type(a.atttypid, a.atttypmod)
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
            AND a.attgenerated = '' AND a.attidentity = '' ORDER BY a.attnum
        """

    /// Drops NOT NULL from the columns that an UPDATE sets to NULL; `nil` if none has it.
    ///
    /// The timeout of the lock is longer than the time after which an automatic vacuum gives way.
    func allowNulls(in table: Table) -> String? {
        let columns = (table.emptied ?? []).filter(\.rejectsNull).map { SQLText.identifier($0.name) }
        guard !columns.isEmpty else { return nil }
        let changes = columns.map { "ALTER COLUMN \($0) DROP NOT NULL" }.joined(separator: ", ")
        return "BEGIN; SET LOCAL lock_timeout = '2s'; ALTER TABLE \(table.sqlName) \(changes); COMMIT"
    }

    // MARK: Identifiers

    /// Selects the anonymous ids of the users `$1`.
    func anonymousIDs(in table: Table) -> String {
        """
        SELECT DISTINCT anonymous_id FROM \(table.sqlName) WHERE user_id = ANY ($1::text[]) AND anonymous_id IS NOT NULL
        """
    }

    /// Selects those of the anonymous ids `$2` that were seen with another user than the users `$1`.
    func sharedAnonymousIDs(in table: Table) -> String {
        """
        SELECT DISTINCT anonymous_id FROM \(table.sqlName)
        WHERE anonymous_id = ANY ($2::text[]) AND user_id IS NOT NULL AND NOT user_id = ANY ($1::text[])
        """
    }

    /// Opens a cursor on the users of a table.
    func openUsers(of table: Table) -> String {
        """
        BEGIN READ ONLY; DECLARE identifiers NO SCROLL CURSOR FOR
        SELECT DISTINCT user_id FROM \(table.sqlName) WHERE user_id IS NOT NULL
        """
    }

    /// Opens a cursor on the anonymous ids of a table's rows without a user.
    func openAnonymousIDs(of table: Table) -> String {
        """
        BEGIN READ ONLY; DECLARE identifiers NO SCROLL CURSOR FOR
        SELECT DISTINCT anonymous_id FROM \(table.sqlName) WHERE user_id IS NULL AND anonymous_id IS NOT NULL
        """
    }

    /// Fetches a part of what a cursor is on.
    static func fetch(_ count: Int) -> String { "FETCH \(count) FROM identifiers" }

    /// Opens a cursor on the identifiers of refused records, each with what it may identify; `NULL` if that is unknown.
    ///
    /// A value that is not JSON is selected itself, in hexadecimal digits, as a third column.
    var openRefusedIdentifiers: String {
        """
        BEGIN READ ONLY; DECLARE identifiers NO SCROLL CURSOR FOR
        SELECT found.id, found.subject, found.value FROM \(refused) AS record
        CROSS JOIN LATERAL \(Self.named)(record.value) AS named
        CROSS JOIN LATERAL (
            SELECT unnest(named.users) AS id, '\(Tombstone.Subject.user.rawValue)' AS subject, NULL AS value
            UNION ALL SELECT unnest(named.devices), '\(Tombstone.Subject.anonymous.rawValue)', NULL
            UNION ALL SELECT header ->> 'value', NULL, NULL FROM jsonb_array_elements(record.headers) AS header
            UNION ALL SELECT NULL, NULL, encode(record.key, 'hex')
            UNION ALL SELECT NULL, NULL, encode(record.value, 'hex') WHERE named.users IS NULL) AS found
        """
    }

    // MARK: Rows

    private var refused: String { LoaderTable.refused.sqlName(in: schema) }
    /// The table of refused records as a receipt names it.
    var placeOfRefused: String { "\(schema).\(LoaderTable.refused.name)" }

    /// The rows of the users `$1` and the anonymous ids `$2` that were received before `$3`.
    ///
    /// A row that names another user than these is never erased, whichever device it is from. No index finds the rows of a device, so
    /// they are left out of the condition if there are no devices.
    private static func ofPeople(withDevices: Bool) -> String {
        let devices = withDevices ? "OR user_id IS NULL AND anonymous_id = ANY ($2::text[])" : "AND $2::text[] = '{}'"
        return "received_at < $3::timestamptz AND (user_id = ANY ($1::text[]) \(devices))"
    }

    /// The name of the function that reads identifiers from the value of a refused record.
    private static let named = "pg_temp.sluice_named"

    /// Creates the function that reads the values of `userId` and `anonymousId` from the value of a refused record, for the session.
    ///
    /// An event has them at its top level, and what its properties say about others does not count. A value without them there, such
    /// as an array of events, is searched as a whole. The arrays are `NULL` for bytes that are not JSON, or that the server cannot
    /// store as `jsonb`; such a record must not stop the erasure.
    static var createNamed: String {
        let body = #"""
            DECLARE
                document jsonb;
                place text;
            BEGIN
                -- No jsonb can have an escaped NUL; two backslashes are one that is escaped.
                document := regexp_replace(convert_from($1, 'UTF8'), '(\\\\)|\\u0000', '\1', 'g')::jsonb;
                FOREACH place IN ARRAY ARRAY['strict $', 'strict $.**'] LOOP
                    users := ARRAY(SELECT id #>> '{}' FROM jsonb_path_query(
                            document, (place || '.userId')::jsonpath, '{}', true) id
                        WHERE jsonb_typeof(id) IN ('string', 'number'));
                    devices := ARRAY(SELECT id #>> '{}' FROM jsonb_path_query(
                            document, (place || '.anonymousId')::jsonpath, '{}', true) id
                        WHERE jsonb_typeof(id) IN ('string', 'number'));
                    EXIT WHEN users <> '{}' OR devices <> '{}';
                END LOOP;
            EXCEPTION WHEN others THEN
                users := NULL;
                devices := NULL;
            END
            """#
        return """
            CREATE OR REPLACE FUNCTION \(named)(bytea, OUT users text[], OUT devices text[])
            LANGUAGE plpgsql AS \(SQLText.literal(body))
            """
    }

    /// The refused records of the users `$1` and the anonymous ids `$2`, refused before `$3`.
    ///
    /// A record that names another user is never erased, as a row is not. Otherwise, its `userId`, its `anonymousId`, its key, or the
    /// value of a header must be one of the identifiers; in bytes that are not JSON, a quoted text must be.
    private static let ofPeopleRefused = """
        refused_at < $3::timestamptz AND EXISTS (
            SELECT FROM \(named)(value) AS named
            WHERE coalesce(named.users, '{}') <@ $1::text[] AND (
                named.users <> '{}' OR named.devices <> '{}' AND named.devices <@ $2::text[]
                OR key IN (SELECT convert_to(id, 'UTF8') FROM unnest($1::text[] || $2::text[]) AS id)
                OR EXISTS (SELECT FROM jsonb_array_elements(headers) AS header
                    WHERE header ->> 'value' = ANY ($1::text[] || $2::text[]))
                OR named.users IS NULL AND EXISTS (SELECT FROM unnest($1::text[] || $2::text[]) AS id
                    WHERE position(convert_to(to_json(id)::text, 'UTF8') IN value) > 0)))
        """

    /// Counts what `erase` would erase.
    func count(in table: Table, withDevices: Bool) -> String {
        "SELECT count(*) FROM \(table.sqlName) WHERE \(Self.ofPeople(withDevices: withDevices))"
    }

    /// Selects one of the rows that `erase` would erase.
    func find(in table: Table, withDevices: Bool) -> String {
        "SELECT 1 FROM \(table.sqlName) WHERE \(Self.ofPeople(withDevices: withDevices)) LIMIT 1"
    }

    /// Counts what `eraseRefused` would erase.
    var countRefused: String { "SELECT count(*) FROM \(refused) WHERE \(Self.ofPeopleRefused)" }

    /// Deletes or anonymises rows, counts them for the receipt `$4` in the same transaction, and returns a row for each partition that
    /// had some.
    func erase(in table: Table, withDevices: Bool) -> String {
        let assignments = table.emptied?.map(\.assignment).joined(separator: ", ")
        let change = assignments.map { "UPDATE \(table.sqlName) SET \($0)" } ?? "DELETE FROM \(table.sqlName)"
        return erase(by: "\(change) WHERE \(Self.ofPeople(withDevices: withDevices))", place: table.place)
    }

    /// Deletes refused records in the same way.
    var eraseRefused: String {
        erase(by: "DELETE FROM \(refused) WHERE \(Self.ofPeopleRefused)", place: placeOfRefused)
    }

    private func erase(by change: String, place: String) -> String {
        """
        WITH erased AS (\(change) RETURNING tableoid AS part)
        INSERT INTO \(own(Self.counts)) AS counted (receipt, schema_name, table_name, place, events)
        SELECT $4::uuid, n.nspname, c.relname, \(SQLText.literal(place)), count(*) FROM erased
        JOIN pg_catalog.pg_class c ON c.oid = erased.part JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        GROUP BY n.nspname, c.relname
        ON CONFLICT (receipt, schema_name, table_name)
            DO UPDATE SET events = counted.events + EXCLUDED.events, vacuumed_at = NULL
        RETURNING table_name
        """
    }

    /// Selects schema and name of the tables that have to be vacuumed for the receipt `$1` and still exist, and for a partition its table,
    /// quoted.
    var unvacuumed: String {
        """
        SELECT schema_name, table_name, (SELECT i.inhparent::regclass FROM pg_catalog.pg_inherits i
                WHERE i.inhrelid = to_regclass(format('%I.%I', schema_name, table_name)))
        FROM \(own(Self.counts)) WHERE receipt = $1::uuid AND vacuumed_at IS NULL
            AND to_regclass(format('%I.%I', schema_name, table_name)) IS NOT NULL ORDER BY 1, 2
        """
    }

    /// Notes that the table `$3` of the schema `$2` was vacuumed.
    var noteVacuum: String {
        """
        UPDATE \(own(Self.counts)) SET vacuumed_at = now()
        WHERE receipt = $1::uuid AND schema_name = $2 AND table_name = $3
        """
    }

    /// Selects how many rows were deleted or anonymised for the receipt `$1`, by place.
    var erased: String {
        """
        SELECT place, sum(events) FROM \(own(Self.counts)) WHERE receipt = $1::uuid GROUP BY place ORDER BY place
        """
    }

    // MARK: Tombstones

    /// Stores the tombstones with the subjects `$1` and the hashes `$2` of the receipt `$4`; the later request counts.
    var storeTombstones: String {
        """
        INSERT INTO \(own(Self.tombstones)) AS known (subject, hash, requested_at, receipt)
        SELECT subject, hash, $3::timestamptz, $4::uuid FROM unnest($1::text[], $2::text[]) AS new (subject, hash)
        ON CONFLICT (subject, hash) DO UPDATE SET requested_at = EXCLUDED.requested_at, receipt = EXCLUDED.receipt
            WHERE known.requested_at < EXCLUDED.requested_at
        """
    }

    /// Selects whether the table of tombstones exists.
    var hasTombstones: String { "SELECT to_regclass(\(SQLText.literal(own(Self.tombstones)))) IS NOT NULL" }

    /// Selects the tombstones.
    var storedTombstones: String {
        "SELECT subject, hash, (extract(epoch FROM requested_at) * 1000000)::bigint FROM \(own(Self.tombstones))"
    }

    private func own(_ table: String) -> String { SQLText.identifier(schema) + "." + SQLText.identifier(table) }
}
