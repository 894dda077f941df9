import EventModel
import TrackerKit

// Removing the months that are older than the retention. A comment says which partitions are being removed, so that a run that is
// interrupted at any point is completed by the next one.
extension MaintenanceRun {
    /// The day before which all events have expired; `nil` without a retention.
    var expiry: CalendarDate? {
        guard let months = configuration.retentionMonths else { return nil }
        let today = CalendarDate(daysSince1970: Int32(now.microseconds / 86_400_000_000))
        return (0..<months).reduce(today.firstOfMonth) { first, _ in
            CalendarDate(daysSince1970: first.daysSince1970 - 1).firstOfMonth
        }
    }

    /// The sentence in the comment of a partition of a table which says that it is being removed.
    static func expiredMark(of table: PartitionedTable) -> String {
        "Expired partition of \(table.sqlName); sluice maintain drops it."
    }

    /// Detaches and drops the partitions whose events have all expired.
    mutating func removeExpired(from name: String) throws {
        guard let table = try tables()[name] else { return }
        let mark = Self.expiredMark(of: table)
        let end = expiry.map { Int64($0.daysSince1970) * 86_400_000_000 } ?? .min
        for partition in table.partitions where !partition.isDefault {
            if partition.microseconds.upperBound <= end {
                // A default partition forbids detaching concurrently, and is reported.
                if table.defaultPartition == nil { try detach(partition, from: table, mark) }
            } else if let comment = partition.comment, comment.contains(mark) {
                // The retention was extended after a run was interrupted.
                try setComment(of: partition, comment.replacing(mark, with: "").trimmingSpaces)
            }
        }
        if expiry != nil { try dropDetached(of: table, mark) }
    }

    /// Detaches a partition while loads and queries go on; rows that a query already reads stay visible to it.
    private func detach(_ partition: PartitionedTable.Partition, from table: PartitionedTable, _ mark: String) throws {
        if partition.comment?.contains(mark) != true {
            try setComment(of: partition, (partition.comment.map { $0 + " " } ?? "") + mark)
        }
        try step("The partition \(partition.sqlName) was not detached") { run throws(PostgresFailure) in
            // It waits for the queries that read the table, and keeps nobody waiting.
            try run.connection.execute("SET lock_timeout = 0", run.limit)
            try run.connection.execute(
                "ALTER TABLE \(table.sqlName) DETACH PARTITION \(partition.sqlName) CONCURRENTLY",
                run.limit
            )
            try run.connection.execute(PatientChange.lockTimeout, run.limit)
        }
    }

    /// Drops the tables that were partitions and have the mark.
    private mutating func dropDetached(of table: PartitionedTable, _ mark: String) throws {
        let rows = try connection.rows(
            of: """
                SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
                    AND strpos(obj_description(c.oid, 'pg_class'), $1) > 0
                ORDER BY 2
                """,
            parameters: [mark],
            limit
        )
        for row in rows {
            guard let schema = row[0], let name = row[1] else { continue }
            let sqlName = SQLText.identifier(schema) + "." + SQLText.identifier(name)
            try step("The expired table \(sqlName) was not dropped") { run throws(PostgresFailure) in
                try run.patiently { "DROP TABLE \(sqlName)" }
            }
            report.changes.append("removed \(name)")
        }
    }

    /// Replaces the comment of a partition.
    func setComment(of partition: PartitionedTable.Partition, _ text: String) throws {
        try step("The comment of \(partition.sqlName) was not changed") { run throws(PostgresFailure) in
            try run.patiently { "COMMENT ON TABLE \(partition.sqlName) IS \(SQLText.literal(text))" }
        }
    }
}

extension String {
    /// The text without spaces at its start and end.
    fileprivate var trimmingSpaces: String {
        String(trimmingPrefix(while: { $0 == " " }).reversed().trimmingPrefix(while: { $0 == " " }).reversed())
    }
}
