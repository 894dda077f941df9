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

    /// Detaches the partitions whose events have all expired.
    mutating func detachExpired(from name: String) throws {
        guard let table = try table(name) else { return }
        let mark = Self.expiredMark(of: table)
        let end = expiry.map { Int64($0.daysSince1970) * 86_400_000_000 } ?? .min
        for partition in table.partitions where !partition.isDefault {
            if partition.microseconds.upperBound <= end {
                // A default partition forbids detaching concurrently, and is reported.
                if table.defaultPartition == nil { try detach(partition, from: table, mark) }
            } else if let comment = partition.comment, comment.contains(mark) {
                // The retention was extended after a run was interrupted.
                let rest = comment.replacing(mark, with: "").replacing(ExpiredPartition.bounds(of: partition), with: "")
                try setComment(of: partition, rest.trimmingSpaces)
            }
        }
    }

    /// Detaches a partition while loads and queries go on; rows that a query already reads stay visible to it.
    private func detach(_ partition: PartitionedTable.Partition, from table: PartitionedTable, _ mark: String) throws {
        if partition.comment?.contains(mark) != true {
            let parts = [partition.comment, mark, ExpiredPartition.bounds(of: partition)].compactMap(\.self)
            try setComment(of: partition, parts.joined(separator: " "))
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

    /// Drops the tables that were partitions of a table and have expired, after they were archived if there is a program for that.
    ///
    /// What was not archived is reported, and does not prevent the others from being archived.
    mutating func dropDetached(of name: String, archivingWith programs: any ProgramRunner) throws {
        guard expiry != nil, let table = try table(name), !table.isManagedElsewhere else { return }
        for expired in try detached(from: table) {
            do {
                let archiver = PartitionArchiver(run: self, programs: programs, expired: expired, table: table)
                report.changes += try configuration.archive.command.isEmpty ? drop(expired) : archiver.archiveAndDrop()
            } catch let error as TrackerError {
                report.problems.append(error)
            }
        }
    }

    private func drop(_ expired: ExpiredPartition) throws -> [String] {
        try step("The expired table \(expired.sqlName) was not dropped") { run throws(PostgresFailure) in
            try run.patiently { "DROP TABLE \(expired.sqlName)" }
        }
        return ["removed \(expired.name)"]
    }

    /// The tables that were partitions and have the mark.
    private func detached(from table: PartitionedTable) throws(PostgresFailure) -> [ExpiredPartition] {
        let rows = try connection.rows(
            of: """
                SELECT n.nspname, c.relname, obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
                    AND strpos(obj_description(c.oid, 'pg_class'), $1) > 0
                ORDER BY 2
                """,
            parameters: [Self.expiredMark(of: table)],
            limit
        )
        return rows.compactMap { row in
            guard row.count == 3, let schema = row[0], let name = row[1] else { return nil }
            return ExpiredPartition(schema: schema, name: name, comment: row[2] ?? "")
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
