import EventModel

/// A table that is partitioned by the range of one time, as it exists in the database.
package struct PartitionedTable: Sendable, Hashable {
    /// A partition of it.
    package struct Partition: Sendable, Hashable {
        package var schema: String
        package var name: String
        /// The bounds in microseconds since 1970; `nil` without a bound.
        package var start: Int64?
        package var end: Int64?
        /// Whether it gets the rows that no other partition accepts.
        package var isDefault = false
        /// Whether `DETACH PARTITION … CONCURRENTLY` was interrupted, so that queries no longer see its rows.
        package var isDetachPending = false
        /// Whether this server stores pages of it, as it does not for an empty or a foreign table.
        package var hasPages = true
        package var comment: String?
        /// The names of the columns that are NOT NULL, though those of the table are not.
        package var closedColumns: [String] = []
        /// The names of the check constraints, on other columns than the time, that the table does not have.
        package var ownChecks: [String] = []

        package init(schema: String, name: String, start: Int64?, end: Int64?) {
            self.schema = schema
            self.name = name
            self.start = start
            self.end = end
        }

        /// The schema and the name, quoted.
        package var sqlName: String { SQLText.identifier(schema) + "." + SQLText.identifier(name) }

        /// The times of its rows, in microseconds since 1970.
        package var microseconds: Range<Int64> {
            let start = start ?? .min
            return start..<max(start, end ?? .max)
        }
    }

    /// A partition that does not exist.
    package struct MissingPartition: Sendable, Hashable {
        /// The month or day that it belongs to.
        package let period: TimePartition
        /// The times of its rows, in microseconds since 1970.
        package let microseconds: Range<Int64>

        /// The bounds, as a statement states them.
        var bounds: String { PartitionedTable.bounds(microseconds) }
        /// Whether it is for all events of the month or day.
        package var isWhole: Bool { microseconds == period.microseconds }
    }

    package var schema: String
    package var name: String
    /// The column whose range the partitions divide.
    package var column: String
    package var owner: String
    /// The tablespace of new partitions; `nil` for the database's.
    package var tablespace: String?
    /// Whether pg_partman makes the partitions.
    package var isManagedElsewhere = false
    package var partitions: [Partition] = []

    package init(schema: String, name: String, column: String, owner: String) {
        self.schema = schema
        self.name = name
        self.column = column
        self.owner = owner
    }

    /// The schema and the name, quoted.
    package var sqlName: String { SQLText.identifier(schema) + "." + SQLText.identifier(name) }

    /// The default partition; `nil` for none.
    package var defaultPartition: Partition? { partitions.first(where: \.isDefault) }

    /// How the newest partition divides time; `nil` if none has two bounds.
    package var partitioning: TablePartitioning? {
        let bounded = partitions.filter { !$0.isDefault && $0.start != nil && $0.end != nil }
        guard let newest = bounded.max(by: { $0.microseconds.upperBound < $1.microseconds.upperBound }) else {
            return nil
        }
        // A day of a time zone can have 25 hours.
        return newest.microseconds.count < 2 * 86_400_000_000 ? .day : .month
    }

    /// What has no partition within some months or days; a partition with other bounds is left as it is.
    package func missing(in periods: [TimePartition]) -> [MissingPartition] {
        let existing = partitions.filter { !$0.isDefault }.map(\.microseconds)
        return periods.flatMap { period in
            existing.reduce([period.microseconds].filter { !$0.isEmpty }) { pieces, taken in
                pieces.flatMap { Self.pieces(of: $0, without: taken) }
            }
            .map { MissingPartition(period: period, microseconds: $0) }
        }
    }

    private static func pieces(of range: Range<Int64>, without taken: Range<Int64>) -> [Range<Int64>] {
        guard range.overlaps(taken) else { return [range] }
        return [
            range.lowerBound..<max(range.lowerBound, taken.lowerBound),
            min(range.upperBound, taken.upperBound)..<range.upperBound,
        ]
        .filter { !$0.isEmpty }
    }

    /// The bounds of a range of microseconds since 1970, as a statement states them.
    static func bounds(_ range: Range<Int64>) -> String {
        "FROM ('\(Timestamp(bound: range.lowerBound))') TO ('\(Timestamp(bound: range.upperBound))')"
    }
}

// MARK: Reading them

extension PartitionedTable {
    /// Selects those of the tables `$2`, an array, of the schema `$1` that are partitioned by the range of one time that each event has,
    /// with their partitions.
    private static let query = """
        SELECT c.relname, a.attname, c.relowner::pg_catalog.regrole, t.spcname, kn.nspname, k.relname,
            \(PartitionCoverage.microseconds(after: "FROM")), \(PartitionCoverage.microseconds(after: "TO")),
            k.oid = p.partdefid, pg_catalog.to_jsonb(i) ->> 'inhdetachpending' = 'true', pg_catalog.pg_relation_size(k.oid) > 0,
            obj_description(k.oid, 'pg_class'),
            (SELECT string_agg(ka.attname, E'\\n' ORDER BY ka.attnum) FROM pg_catalog.pg_attribute ka
                JOIN pg_catalog.pg_attribute ca ON ca.attrelid = c.oid AND ca.attname = ka.attname AND NOT ca.attnotnull
                WHERE ka.attrelid = k.oid AND ka.attnum > 0 AND ka.attnotnull),
            (SELECT string_agg(o.conname, E'\\n' ORDER BY o.conname) FROM pg_catalog.pg_constraint o
                WHERE o.conrelid = k.oid AND o.contype = 'c' AND o.coninhcount = 0 AND NOT o.conkey <@ ARRAY[(SELECT ka.attnum
                    FROM pg_catalog.pg_attribute ka WHERE ka.attrelid = k.oid AND ka.attname = a.attname)])
        FROM pg_catalog.pg_partitioned_table p
        JOIN pg_catalog.pg_class c ON c.oid = p.partrelid AND c.relname = ANY ($2::text[])
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
            AND a.attname IN ('occurred_at', 'received_at') AND a.atttypid = 'pg_catalog.timestamptz'::pg_catalog.regtype
        LEFT JOIN pg_catalog.pg_tablespace t ON t.oid = c.reltablespace
        LEFT JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid
        LEFT JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid
        LEFT JOIN pg_catalog.pg_namespace kn ON kn.oid = k.relnamespace
        LEFT JOIN LATERAL (SELECT pg_catalog.pg_get_expr(k.relpartbound, k.oid)) AS bounds (text) ON true
        WHERE p.partstrat = 'r' AND p.partnatts = 1
        ORDER BY c.relname, 7 NULLS FIRST
        """

    /// Selects the schemas with a table `part_config` of pg_partman's.
    private static let partmanQuery = """
        SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'parent_table'
        WHERE c.relname = 'part_config' AND c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT')
        """

    /// Reads the partitioned ones among some tables of a schema, by their names.
    ///
    /// With many tables, reading one costs a small part of reading all.
    static func read(
        _ wanted: some Sequence<String>,
        inSchema schema: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [String: PartitionedTable] {
        var tables: [String: PartitionedTable] = [:]
        let parameters = [schema, SQLText.array(wanted)]
        for row in try connection.rows(of: query, parameters: parameters, limit) where row.count == 14 {
            guard let name = row[0], let column = row[1], let owner = row[2] else { continue }
            var table =
                tables[name] ?? PartitionedTable(schema: schema, name: name, column: column, owner: owner)
            table.tablespace = row[3]
            if let partitionSchema = row[4], let partitionName = row[5] {
                var partition = Partition(
                    schema: partitionSchema,
                    name: partitionName,
                    start: row[6].flatMap { Int64($0) },
                    end: row[7].flatMap { Int64($0) }
                )
                partition.isDefault = row[8] == "t"
                partition.isDetachPending = row[9] == "t"
                partition.hasPages = row[10] == "t"
                partition.comment = row[11]
                partition.closedColumns = names(row[12])
                partition.ownChecks = names(row[13])
                table.partitions.append(partition)
            }
            tables[name] = table
        }
        if tables.isEmpty { return tables }
        let spellings = tables.values.flatMap { [("\($0.schema).\($0.name)", $0.name), ($0.sqlName, $0.name)] }
        let names = Dictionary(spellings) { first, _ in first }
        for name in try managedElsewhere(among: Array(names.keys), over: connection, limit) {
            if let table = names[name] { tables[table]?.isManagedElsewhere = true }
        }
        return tables
    }

    /// Those of the names that pg_partman has.
    private static func managedElsewhere(
        among wanted: [String],
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [String] {
        var names: [String] = []
        for row in try connection.rows(of: partmanQuery, parameters: [], limit) {
            guard let schema = row.first ?? nil else { continue }
            let rows = try connection.rows(
                of: """
                    SELECT parent_table FROM \(SQLText.identifier(schema)).part_config WHERE parent_table = ANY ($1::text[])
                    """,
                parameters: [SQLText.array(wanted)],
                limit
            )
            names += rows.compactMap { $0.first ?? nil }
        }
        return names
    }

    /// Names, one a line.
    private static func names(_ lines: String?) -> [String] {
        lines?.split(separator: "\n").map(String.init) ?? []
    }
}

extension Timestamp {
    /// The bound of a partition, without a fraction if it has none.
    init(bound microseconds: Int64) {
        self.init(microseconds: microseconds, fractionDigits: microseconds.isMultiple(of: 1_000_000) ? 0 : 6)
    }
}
