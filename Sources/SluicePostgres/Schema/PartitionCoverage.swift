import TrackerKit

/// Which tables that are partitioned by time have no partition for an event of the present time.
enum PartitionCoverage {
    /// Selects the partitions of the schema `$1` whose table is partitioned by the range of one time that each event has, and has
    /// no default partition: the table, the column, and the partition's constraint, which is `NULL` if the table has no partitions.
    private static let query = """
        SELECT c.relname, a.attname, pg_catalog.pg_get_partition_constraintdef(i.inhrelid)
        FROM pg_catalog.pg_partitioned_table p
        JOIN pg_catalog.pg_class c ON c.oid = p.partrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
            AND a.attname IN ('occurred_at', 'received_at') AND a.atttypid = 'pg_catalog.timestamptz'::pg_catalog.regtype
        LEFT JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid
        WHERE p.partstrat = 'r' AND p.partnatts = 1 AND p.partdefid = 0
        """

    /// The problems of the tables among `tables` that have no such partition, in this order.
    static func problems(
        of tables: [EventTable],
        inSchema schema: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [TrackerError] {
        var conditions: [String: (column: String, constraints: [String])] = [:]
        for row in try connection.rows(of: query, parameters: [schema], limit) where row.count == 3 {
            guard let table = row[0], let column = row[1] else { continue }
            conditions[table, default: (column, [])].constraints += row[2].map { [$0] } ?? []
        }
        var problems: [TrackerError] = []
        for table in tables {
            guard let (column, constraints) = conditions[table.name] else { continue }
            // The server wrote the constraints, and reads them again.
            let holds = constraints.isEmpty ? "false" : constraints.map { "(\($0))" }.joined(separator: " OR ")
            let now = "(SELECT pg_catalog.now() AS \(SQLText.identifier(column))) event"
            let answer = try connection.rows(of: "SELECT \(holds) FROM \(now)", parameters: [], limit)
            guard answer.first?.first != "t" else { continue }
            problems.append(
                TrackerError(
                    code: .noPartition,
                    message: """
                        The table \(table.sqlName) has no partition for the present time, so PostgreSQL refuses today's events; \
                        create the partition.
                        """,
                    isRetryable: false
                )
            )
        }
        return problems
    }
}
