import TrackerKit

/// The table that stores how far a loader has loaded each partition, and the statements for it.
///
/// The owner of a partition holds the lock on the partition's row during each transaction, so that a claim or a renewal waits until
/// the transaction has ended.
struct OffsetTable: Sendable {
    let schema: String
    /// The tracker's name in lower case, because names are case-insensitive.
    let tracker: String

    init(_ configuration: PostgresConfiguration) {
        schema = configuration.schema
        tracker = configuration.name.lowercased()
    }

    private var sqlName: String { LoaderTable.offsets.sqlName(in: schema) }

    /// The columns of a `PartitionClaim`.
    private static let claim = """
        next_offset, epoch, last_record->>'offset', last_record->>'id', last_record->>'timestamp'
        """

    /// The values of the key columns.
    func key(of partition: LoadedPartition) -> String {
        [partition.loader, tracker, partition.cluster, partition.topic].map(SQLText.literal).joined(separator: ", ")
            + ", \(partition.number)"
    }

    /// The condition that a row is the partition's, in any of the loader's tables.
    func isRow(of partition: LoadedPartition) -> String {
        "(\(LoaderTable.keyColumns.joined(separator: ", "))) = (\(key(of: partition)))"
    }

    /// Locks the row until the transaction ends; compares nothing.
    func lock(_ partition: LoadedPartition) -> String {
        "SELECT 1 FROM \(sqlName) WHERE \(isRow(of: partition)) FOR UPDATE"
    }

    /// Takes the partition over from its owner, once the owner's transaction has ended, and returns the claim.
    ///
    /// Through a pooler no session is recorded, because it could belong to another client by the time it is terminated.
    func claim(
        _ partition: LoadedPartition,
        start: Int64,
        owner: String,
        isPooled: Bool,
        lockTimeout: Duration
    ) -> String {
        transaction(
            """
            INSERT INTO \(sqlName) AS o (\(LoaderTable.keyColumns.joined(separator: ", ")), next_offset, epoch, owner,
                backend_pid, backend_start, updated_at)
            VALUES (\(key(of: partition)), \(start), 1, \(SQLText.literal(owner)), \(session(isPooled)), now())
            ON CONFLICT (\(LoaderTable.keyColumns.joined(separator: ", "))) DO UPDATE SET epoch = o.epoch + 1,
                owner = EXCLUDED.owner, backend_pid = EXCLUDED.backend_pid, backend_start = EXCLUDED.backend_start,
                updated_at = EXCLUDED.updated_at
            RETURNING \(Self.claim)
            """,
            lockTimeout
        )
    }

    /// Records this session as the owner's if the epoch is still the same, and returns the claim.
    func renew(_ partition: LoadedPartition, epoch: Int64, isPooled: Bool, lockTimeout: Duration) -> String {
        transaction(
            """
            UPDATE \(sqlName) SET (backend_pid, backend_start) = ROW(\(session(isPooled)))
            WHERE \(isRow(of: partition)) AND epoch = \(epoch)
            RETURNING \(Self.claim)
            """,
            lockTimeout
        )
    }

    /// Terminates the recorded session of the partition's owner, if the epoch is the given one, and waits for its end.
    ///
    /// Nothing else ends the `COPY` of a process that is frozen, or that is behind a network that went silent. The start time is
    /// compared because the system may have reused the process number.
    func endOwner(of partition: LoadedPartition, ownedUnder epoch: Int64?, timeout: Duration) -> String {
        """
        SELECT pg_catalog.pg_terminate_backend(a.pid, \(timeout.milliseconds))
        FROM \(sqlName) o
        JOIN pg_catalog.pg_stat_activity a ON a.pid = o.backend_pid AND a.backend_start = o.backend_start
        WHERE \(isRow(of: partition))\(epoch.map { " AND o.epoch = \($0)" } ?? "")
            AND a.pid <> pg_catalog.pg_backend_pid()
        """
    }

    /// Selects a row if the server has the function with which `endOwner` terminates a session, as PostgreSQL 14 and later do.
    static let terminatingFunction = """
        SELECT 1 WHERE to_regprocedure('pg_catalog.pg_terminate_backend(integer, bigint)') IS NOT NULL
        """

    /// Moves the position, and raises an error if the stored position or epoch is not that of the delivery.
    func advance(_ delivery: PartitionDelivery) -> String {
        var assignments = ["next_offset = \(delivery.end)", "updated_at = now()"]
        if let note = delivery.lastRecord { assignments.append("last_record = \(json(note))") }
        let conditions = [
            isRow(of: delivery.partition),
            "next_offset = \(delivery.start)",  // guard: compare-and-set
            "epoch = \(delivery.epoch)",  // guard: epoch
        ]
        let block = """
            BEGIN
                UPDATE \(sqlName) SET \(assignments.joined(separator: ", "))
                WHERE \(conditions.joined(separator: " AND "));
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = '\(PostgresErrorClass.supersededState)',
                        MESSAGE = '\(PostgresErrorClass.supersededMessage)';
                END IF;
            END
            """
        return "DO LANGUAGE plpgsql \(SQLText.literal(block)); "
    }

    /// Moves the position over lost records, and records that; affects no row if the stored position or epoch is another one.
    func accept(_ loss: AcceptedLoss, of partition: LoadedPartition, epoch: Int64) -> String {
        """
        WITH moved AS (
            UPDATE \(sqlName) SET next_offset = \(loss.next), last_record = NULL, updated_at = now()
            WHERE \(isRow(of: partition)) AND epoch = \(epoch) AND next_offset = \(loss.first)
            RETURNING 1
        )
        INSERT INTO \(LoaderTable.losses.sqlName(in: schema))
            (\(LoaderTable.keyColumns.joined(separator: ", ")), first_offset, next_offset, reason)
        SELECT \(key(of: partition)), \(loss.first), \(loss.next), \(SQLText.literal(loss.reason)) FROM moved
        """
    }

    /// Selects the partitions of a loader: cluster, topic, partition, owner, number of refused records, and the claim.
    func partitions(ofLoader loader: String) -> String {
        """
        SELECT cluster, topic, partition, owner,
            (SELECT count(*) FROM \(LoaderTable.refused.sqlName(in: schema)) r
                WHERE (r.loader, r.tracker, r.cluster, r.topic, r.partition)
                    = (o.loader, o.tracker, o.cluster, o.topic, o.partition)), \(Self.claim)
        FROM \(sqlName) o WHERE loader = \(SQLText.literal(loader)) AND tracker = \(SQLText.literal(tracker))
        ORDER BY topic, partition, cluster
        """
    }

    /// Selects each of the loader's tables on which the role lacks a privilege.
    var tablesWithoutPrivilege: String {
        let tables = LoaderTable.all.map {
            "(\(SQLText.literal($0.name)), \(SQLText.literal($0.sqlName(in: schema))), "
                + "ARRAY[\($0.privileges.map(SQLText.literal).joined(separator: ", "))])"
        }
        return """
            SELECT t.name FROM (VALUES \(tables.joined(separator: ", "))) t (name, sql, privileges)
            WHERE EXISTS (SELECT FROM unnest(t.privileges) p WHERE NOT has_table_privilege(t.sql, p))
            """
    }

    /// Selects a row if the recorded session of an owner belongs to another role and this role may not terminate it.
    ///
    /// Without `pg_read_all_stats`, the server does not say when a session of another role began.
    var ownersBeyondReach: String {
        """
        SELECT 1 FROM \(sqlName) o JOIN pg_catalog.pg_stat_activity a
            ON a.pid = o.backend_pid AND coalesce(a.backend_start, o.backend_start) = o.backend_start
        WHERE o.tracker = \(SQLText.literal(tracker)) AND NOT pg_has_role(a.usesysid, 'USAGE')
            AND NOT (pg_has_role('pg_signal_backend', 'USAGE') AND pg_has_role('pg_read_all_stats', 'USAGE'))
        LIMIT 1
        """
    }

    /// The process and the start of this session, or NULL for both.
    private func session(_ isPooled: Bool) -> String {
        isPooled
            ? "NULL::integer, NULL::timestamptz"
            : """
            pg_catalog.pg_backend_pid(),
            (SELECT backend_start FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid())
            """
    }

    private func transaction(_ statement: String, _ lockTimeout: Duration) -> String {
        """
        BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = \(lockTimeout.milliseconds);
        \(statement); COMMIT
        """
    }

    private func json(_ note: RecordNote) -> String {
        let id = note.id.map(SQLText.literal) ?? "NULL"
        return "jsonb_build_object('offset', \(note.offset), 'id', \(id)::text, 'timestamp', \(note.timestamp))"
    }
}

extension PartitionClaim {
    /// Creates the claim from the columns that `OffsetTable` selects.
    init?(columns: ArraySlice<String?>) {
        let columns = Array(columns)
        guard columns.count == 5, let next = columns[0].flatMap({ Int64($0) }),
            let epoch = columns[1].flatMap({ Int64($0) })
        else { return nil }
        var note: RecordNote?
        if let offset = columns[2].flatMap({ Int64($0) }), let timestamp = columns[4].flatMap({ Int64($0) }) {
            note = RecordNote(offset: offset, id: columns[3], timestamp: timestamp)
        }
        self.init(epoch: epoch, position: StoredPosition(nextOffset: next, lastRecord: note))
    }
}
