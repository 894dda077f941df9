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

    /// Whether there is a partition for a time.
    @inline(__always)
    package func contains(_ time: Timestamp) -> Bool {
        // Gaps are rare, and most events are recent.
        for span in spans.reversed() where span.lowerBound <= time.microseconds {
            return span.contains(time.microseconds)
        }
        return false
    }

    /// How many seconds from a time on have partitions without a gap; `nil` without a limit.
    package func secondsAhead(of time: Timestamp) -> Int? {
        guard let span = spans.first(where: { $0.contains(time.microseconds) }) else { return 0 }
        return span.upperBound == .max ? nil : Int((span.upperBound - time.microseconds) / 1_000_000)
    }
}

// MARK: Reading it

extension PartitionCoverage {
    /// Selects the partitions of the tables in the schema `$1` that are partitioned by the range of one time that each event has, and have
    /// no default partition: the table, the column, whether there is a partition, and its bounds in microseconds since 1970.
    ///
    /// A partition whose concurrent detaching was interrupted accepts no rows. PostgreSQL has that column since version 14.
    private static let query = """
        SELECT c.relname, a.attname, k.oid IS NOT NULL, \(microseconds(after: "FROM")), \(microseconds(after: "TO"))
        FROM pg_catalog.pg_partitioned_table p
        JOIN pg_catalog.pg_class c ON c.oid = p.partrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
            AND a.attname IN ('occurred_at', 'received_at') AND a.atttypid = 'pg_catalog.timestamptz'::pg_catalog.regtype
        LEFT JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid
            AND pg_catalog.to_jsonb(i) ->> 'inhdetachpending' IS DISTINCT FROM 'true'
        LEFT JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid
        LEFT JOIN LATERAL (SELECT pg_catalog.pg_get_expr(k.relpartbound, k.oid)) AS bounds (text) ON true
        WHERE p.partstrat = 'r' AND p.partnatts = 1 AND p.partdefid = 0
        """

    /// The bound after a word of the text that the server itself writes; `NULL` without a bound.
    private static func microseconds(after word: String) -> String {
        let bound =
            "pg_catalog.substring(bounds.text, '\(word) \\(''([^'']*)''\\)')::pg_catalog.timestamptz"
        return """
            CASE WHEN pg_catalog.isfinite(\(bound)) THEN (extract(epoch FROM \(bound)) * 1000000)::pg_catalog.int8 END
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
    /// A table has no partition for some events, the earliest of which is of this time.
    static func noPartition(in table: EventTable, for time: Timestamp, now: Timestamp = .now()) -> TrackerError {
        let month = "\(time)".prefix(7)
        let option = time.microseconds < now.microseconds ? " --since \(month)" : ""
        return TrackerError(
            code: .noPartition,
            message: """
                The table \(table.sqlName) has no partition for events of \(month); run `sluice maintain\(option)`, and replay \
                the parked events.
                """,
            isRetryable: false
        )
    }

    /// A table will soon have no partition for the events of the day, or has none.
    static func partitionsEnd(of table: EventTable, inDays days: Int) -> TrackerError {
        let state =
            days > 0
            ? "has partitions for the next \(days) days only" : "has no partition for the present time"
        return TrackerError(
            code: .noPartition,
            message: "The table \(table.sqlName) \(state); run `sluice maintain`, regularly.",
            isRetryable: false
        )
    }
}
