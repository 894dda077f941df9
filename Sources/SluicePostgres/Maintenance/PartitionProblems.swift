import EventModel
import TrackerKit

extension PartitionedTable {
    /// What is wrong with the partitions, with the remedy.
    ///
    /// That they end soon, or that the present time has none, is not among it.
    var problems: [TrackerError] {
        var problems: [TrackerError] = []
        if let partition = defaultPartition { problems.append(.defaultPartition(partition, of: self)) }
        for partition in partitions {
            if partition.isDetachPending { problems.append(.interruptedDetaching(of: partition, from: self)) }
            problems += partition.closedColumns.map { .closed(partition, column: $0, of: self) }
            problems += partition.ownChecks.map { .closed(partition, check: $0, of: self) }
        }
        return problems
    }
}

extension PartitionCoverage {
    /// The problem that there are no partitions for a time in the past, between others; `nil` if there is none.
    func gap(in table: EventTable, now: Timestamp) -> TrackerError? {
        guard let gap = gaps.first(where: { $0.upperBound <= now.microseconds }) else { return nil }
        let (start, end) = (Timestamp(bound: gap.lowerBound), Timestamp(bound: gap.upperBound))
        return TrackerError(
            code: .noPartition,
            message: """
                The table \(table.sqlName) has no partition for events from \(start) to \(end); attach the one that was detached, or \
                run `sluice maintain --since \("\(start)".prefix(7))`.
                """,
            isRetryable: false
        )
    }
}

extension TrackerError {
    fileprivate static func defaultPartition(
        _ partition: PartitionedTable.Partition,
        of table: PartitionedTable
    ) -> TrackerError {
        .misconfigured(
            """
            The table \(table.sqlName) has the default partition \(partition.sqlName), whose rows block new partitions and which \
            cannot be detached concurrently; run: ALTER TABLE \(table.sqlName) DETACH PARTITION \(partition.sqlName); then \
            `sluice maintain --since` with the month of its earliest row, and move its rows: INSERT INTO \(table.sqlName) SELECT * \
            FROM \(partition.sqlName);
            """
        )
    }

    fileprivate static func interruptedDetaching(
        of partition: PartitionedTable.Partition,
        from table: PartitionedTable
    ) -> TrackerError {
        .misconfigured(
            """
            The detaching of the partition \(partition.sqlName) was interrupted, so queries of \(table.sqlName) do not see its rows; \
            run `sluice maintain`, and attach it again to keep it.
            """
        )
    }

    fileprivate static func closed(
        _ partition: PartitionedTable.Partition,
        column: String,
        of table: PartitionedTable
    ) -> TrackerError {
        let column = SQLText.identifier(column)
        return .misconfigured(
            """
            The column \(partition.sqlName).\(column) is NOT NULL, and that of the table \(table.sqlName) is not, so the partition \
            refuses rows without a value; run: ALTER TABLE \(partition.sqlName) ALTER COLUMN \(column) DROP NOT NULL;
            """
        )
    }

    fileprivate static func closed(
        _ partition: PartitionedTable.Partition,
        check: String,
        of table: PartitionedTable
    ) -> TrackerError {
        let check = SQLText.identifier(check)
        return .misconfigured(
            """
            The partition \(partition.sqlName) has the constraint \(check), which the table \(table.sqlName) does not have, so it \
            can refuse rows; run: ALTER TABLE \(partition.sqlName) DROP CONSTRAINT \(check);
            """
        )
    }

    /// A table that is no partition has the name of a partition that is missing.
    static func nameIsTaken(
        _ name: String,
        in schema: String,
        of table: PartitionedTable,
        _ bounds: String
    ) -> TrackerError {
        let sqlName = SQLText.identifier(schema) + "." + SQLText.identifier(name)
        return .misconfigured(
            """
            \(sqlName) exists and is no partition of \(table.sqlName), which lacks it; attach it: ALTER TABLE \(table.sqlName) ATTACH \
            PARTITION \(sqlName) FOR VALUES \(bounds); or rename it.
            """
        )
    }

    private static func misconfigured(_ message: String) -> TrackerError {
        TrackerError(code: .misconfigured, message: message, isRetryable: false)
    }
}
