package import EventModel
import TrackerKit

/// For which times a table that is partitioned by the range of one time has partitions.
package struct PartitionCoverage: Sendable, Hashable {
    /// The column whose range the partitions divide: `occurred_at` or `received_at`.
    package let column: String
    /// Ranges of microseconds since 1970, ascending, which neither overlap nor touch.
    private var spans: [Range<Int64>] = []

    /// The coverage without partitions.
    package init(column: String) {
        self.column = column
    }

    /// Adds a partition; `nil` stands for no bound.
    package mutating func add(from start: Int64?, to end: Int64?) {
        let (start, end) = (start ?? .min, end ?? .max)
        guard start < end else { return }
        var merged = start..<end
        spans.removeAll { span in
            guard span.lowerBound <= merged.upperBound, merged.lowerBound <= span.upperBound else { return false }
            merged = min(span.lowerBound, merged.lowerBound)..<max(span.upperBound, merged.upperBound)
            return true
        }
        spans.insert(merged, at: spans.firstIndex { $0.lowerBound > merged.lowerBound } ?? spans.endIndex)
    }

    /// The times between partitions that have none, in microseconds since 1970, ascending.
    package var gaps: [Range<Int64>] { zip(spans, spans.dropFirst()).map { $0.upperBound..<$1.lowerBound } }

    /// Whether there is a partition for a time.
    @inline(__always)
    package func contains(_ time: Timestamp) -> Bool {
        // Gaps are rare, and most events are recent.
        for span in spans.reversed() where span.lowerBound <= time.microseconds {
            return span.contains(time.microseconds)
        }
        return false
    }

    /// The end of the partitions that follow a time without a gap, which is the time itself if it has none.
    package func end(from time: Timestamp) -> Timestamp {
        let span = spans.first { $0.contains(time.microseconds) }
        return span.map { Timestamp(microseconds: $0.upperBound) } ?? time
    }
}

// MARK: Reading it

extension PartitionCoverage {
    /// Selects the partitions of the tables in the schema `$1` that are partitioned by the range of one time that each event has, and have
    /// no default partition: the table, the column, whether there is a partition, and its bounds in microseconds since 1970.
    ///
    /// A partition whose concurrent detaching was interrupted accepts no rows. PostgreSQL has that column since version 14. With the
    /// partition's own number instead of 0, `pg_get_expr` would wait for its lock, for example while it is rewritten.
    private static let query = """
        SELECT c.relname, a.attname, bounds.text IS NOT NULL, \(microseconds(after: "FROM")), \(microseconds(after: "TO"))
        FROM pg_catalog.pg_partitioned_table p
        JOIN pg_catalog.pg_class c ON c.oid = p.partrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
            AND a.attname IN ('occurred_at', 'received_at') AND a.atttypid = 'pg_catalog.timestamptz'::pg_catalog.regtype
        LEFT JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid
            AND pg_catalog.to_jsonb(i) ->> 'inhdetachpending' IS DISTINCT FROM 'true'
        LEFT JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid
        LEFT JOIN LATERAL (SELECT pg_catalog.pg_get_expr(k.relpartbound, 0)) AS bounds (text) ON true
        WHERE p.partstrat = 'r' AND p.partnatts = 1 AND p.partdefid = 0
        """

    /// The bound after a word of the text that the server itself writes; `NULL` without a bound.
    ///
    /// PostgreSQL has times that 64 bits of microseconds since 1970 do not, and infinity.
    static func microseconds(after word: String) -> String {
        let bound =
            "pg_catalog.substring(bounds.text, '\(word) \\(''([^'']*)''\\)')::pg_catalog.timestamptz"
        let limit = Timestamp(microseconds: .max).microseconds
        return """
            CASE WHEN \(bound) IS NOT NULL THEN
                least(greatest(extract(epoch FROM \(bound))::pg_catalog.float8 * 1000000, -\(limit)), \(limit))
            END::pg_catalog.int8
            """
    }

    /// Reads the coverage of each such table of a schema, by the table's name.
    static func read(
        inSchema schema: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [String: PartitionCoverage] {
        var coverages: [String: PartitionCoverage] = [:]
        for row in try connection.rows(of: query, parameters: [schema], limit) where row.count == 5 {
            guard let table = row[0], let column = row[1] else { continue }
            var coverage = coverages[table] ?? PartitionCoverage(column: column)
            if row[2] == "t" {
                coverage.add(from: row[3].flatMap { Int64($0) }, to: row[4].flatMap { Int64($0) })
            }
            coverages[table] = coverage
        }
        return coverages
    }
}

extension TrackerError {
    /// How long before the end of its partitions a table is a problem, so that a person has time to make more.
    private static let patience = Duration.seconds(7 * 86_400)

    /// A table has no partition for some events, the earliest of which is of this time.
    static func noPartition(in table: EventTable, for time: Timestamp, now: Timestamp = .now()) -> TrackerError {
        let month = "\(time)".prefix(7)
        let newTable = TimePartition.window(now: now)
        let advice =
            time.microseconds > newTable.upperBound.microseconds
            ? "which is later than `sluice maintain` makes partitions for"
            : "run `sluice maintain\(time.microseconds < now.microseconds ? " --since \(month)" : "")`"
        return TrackerError(
            code: .noPartition,
            message: "The table \(table.sqlName) has no partition for events of \(month); \(advice).",
            isRetryable: false
        )
    }

    /// A table will soon have no partition for new events, or has none; `nil` if there is time.
    static func partitionsEnd(of table: EventTable, at end: Timestamp, now: Timestamp) -> TrackerError? {
        guard Duration.microseconds(end.microseconds - now.microseconds) < patience else { return nil }
        let state =
            end.microseconds > now.microseconds
            ? "has partitions until \(end) only" : "has no partition for the present time"
        return TrackerError(
            code: .noPartition,
            message: "The table \(table.sqlName) \(state); run `sluice maintain`, and schedule it.",
            isRetryable: false
        )
    }
}
