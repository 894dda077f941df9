import EventModel
import TrackerKit

/// One run of `sluice maintain` over one connection.
///
/// Each step is complete by itself, so that a run that was killed at any point is completed by the next one.
struct MaintenanceRun {
    /// The run that has the connection and the schema's lock.
    let base: MigrationRun
    let configuration: PostgresConfiguration
    /// The first day that needs a partition; `nil` for that of the earliest time that an event may have.
    let since: CalendarDate?
    let now: Timestamp
    var report = MaintenanceReport()

    /// How long after its end a partition counts as closed, because late events have arrived.
    private static let closedAfter = Int64(7 * 86_400_000_000)
    /// The sentence in a partition's comment which says that its rows are frozen.
    static let frozenMark = "Frozen by sluice maintain."

    var connection: PostgresConnection { base.connection }
    var limit: WaitLimit { base.limit }
    /// The schema of the partitions.
    var partitionSchema: String { TimePartition.schema(besides: base.schema) }

    /// Maintains the partitioned ones among some tables, while it holds the schema's lock.
    ///
    /// `programs` runs the one that archives expired partitions.
    mutating func maintain(_ wanted: [EventTable], archivingWith programs: any ProgramRunner) throws {
        try connection.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0", limit)
        try base.lock()
        try connection.execute(PatientChange.lockTimeout, limit)
        for name in wanted.map(\.name) {
            guard let table = try table(name) else { continue }
            do {
                try maintain(table)
            } catch let error as TrackerError {
                report.problems.append(error)
            }
        }
        // An archive can take hours, so it comes after everything that loads need.
        for name in wanted.map(\.name) { try dropDetached(of: name, archivingWith: programs) }
    }

    /// Partitions some tables that are not, and makes their partitions to come, while it holds the schema's lock.
    ///
    /// Partitions that have expired are detached, and dropped only by the maintenance, which can archive them.
    mutating func partition(_ wanted: [EventTable], leaving: Set<String>) throws {
        try connection.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0", limit)
        try base.lock()
        for table in wanted {
            report.changes += try TableConversion(run: self, table: table, leaving: leaving).convert()
            try connection.execute(PatientChange.lockTimeout, limit)
            if let converted = try self.table(table.name) { try maintain(converted) }
        }
    }

    /// A partitioned table as it is now; `nil` if there is none of this name.
    func table(_ name: String) throws(PostgresFailure) -> PartitionedTable? {
        try PartitionedTable.read([name], inSchema: base.schema, over: connection, limit)[name]
    }

    private mutating func maintain(_ table: PartitionedTable) throws {
        if table.isManagedElsewhere {
            return report.changes.append("left \(table.name) to pg_partman")
        }
        try finalizeDetached(table)
        try detachExpired(from: table.name)
        try makeMissing(of: table.name)
        guard let table = try self.table(table.name) else { return }
        report.problems += table.problems
        try freezeClosed(table)
        try step("The table \(table.sqlName) was not analyzed") { run throws(PostgresFailure) in
            // Autovacuum analyzes partitions, and never their table.
            try run.connection.execute("ANALYZE \(table.sqlName)", run.limit)
        }
        report.changes.append("analyzed \(table.name)")
    }

    // MARK: Partitions

    /// Completes a concurrent detaching that was interrupted, because no other partition can be detached before.
    private mutating func finalizeDetached(_ table: PartitionedTable) throws {
        for partition in table.partitions where partition.isDetachPending {
            try step("The detaching of \(partition.sqlName) was not completed") { run throws(PostgresFailure) in
                try run.patiently {
                    "ALTER TABLE \(table.sqlName) DETACH PARTITION \(partition.sqlName) FINALIZE"
                }
            }
            report.changes.append("completed the detaching of \(partition.name)")
        }
    }

    private mutating func makeMissing(of name: String) throws {
        guard let table = try table(name), table.defaultPartition == nil else { return }
        let times = try times()
        let divided = table.partitioning ?? (configuration.partitions == .none ? .month : configuration.partitions)
        let missing = table.missing(in: TimePartition.periods(of: times, by: divided, now: now))
        guard !missing.isEmpty else { return }
        try step("The partitions of \(table.sqlName) were not made") { run throws(PostgresFailure) in
            try run.connection.execute(SQLText.creationIfMissing(ofSchema: run.partitionSchema), run.limit)
        }
        for partition in missing {
            guard let name = try freeName(for: partition, of: table) else {
                report.problems.append(
                    .nameIsTaken(
                        partition.period.name(of: table.name),
                        in: partitionSchema,
                        of: table,
                        partition.bounds
                    )
                )
                continue
            }
            try make(partition, named: name, of: table)
        }
    }

    /// The times that need partitions.
    private func times() throws -> ClosedRange<Timestamp> {
        let window = TimePartition.window(now: now)
        func start(_ day: CalendarDate) -> Timestamp {
            Timestamp(microseconds: Int64(day.daysSince1970) * 86_400_000_000)
        }
        if let since, let expiry, since.daysSince1970 < expiry.daysSince1970 {
            throw TrackerError(
                code: .failed,
                message: "The months before \(expiry) are not made, because postgres.retentionMonths removes them.",
                isRetryable: false
            )
        }
        let first = since.map(start) ?? window.lowerBound
        let kept = expiry.map(start) ?? first
        let lower = min(max(first.microseconds, kept.microseconds), window.upperBound.microseconds)
        return Timestamp(microseconds: lower)...window.upperBound
    }

    /// The name of a partition that is made; `nil` if a table that is no partition has the name.
    ///
    /// Such a table probably has the rows of the missing month, because it was detached.
    private func freeName(
        for partition: PartitionedTable.MissingPartition,
        of table: PartitionedTable
    ) throws(PostgresFailure) -> String? {
        var number = 1
        let own = Set(table.partitions.filter { $0.schema == partitionSchema }.map(\.name))
        while true {
            let name = partition.period.name(of: table.name, number: number)
            if try !isTaken(name) { return name }
            // A partition with other bounds, or the part of the same month that was made before.
            if number == 1, partition.isWhole, !own.contains(name) { return nil }
            number += 1
        }
    }

    /// Whether a relation in the schema of the partitions has a name.
    private func isTaken(_ name: String) throws(PostgresFailure) -> Bool {
        let rows = try connection.rows(
            of: """
                SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = $1 AND c.relname = $2
                """,
            parameters: [partitionSchema, name],
            limit
        )
        return !rows.isEmpty
    }

    /// Makes a partition without waiting for loads: `CREATE TABLE … PARTITION OF` would lock the table against all of them.
    private mutating func make(
        _ missing: PartitionedTable.MissingPartition,
        named name: String,
        of table: PartitionedTable
    ) throws {
        let sqlName = SQLText.identifier(partitionSchema) + "." + SQLText.identifier(name)
        let tablespace = table.tablespace.map { " TABLESPACE \(SQLText.identifier($0))" } ?? ""
        // The values of identity columns come from the table's sequence. The server writes the owner's name quoted.
        let statements = [
            "CREATE TABLE \(sqlName) (LIKE \(table.sqlName) INCLUDING ALL EXCLUDING IDENTITY)\(tablespace)",
            """
            DO $$ BEGIN IF current_user::pg_catalog.regrole <> \(SQLText.literal(table.owner))::pg_catalog.regrole THEN \
            ALTER TABLE \(sqlName) OWNER TO \(table.owner); END IF; END $$
            """,
            "ALTER TABLE \(table.sqlName) ATTACH PARTITION \(sqlName) FOR VALUES \(missing.bounds)",
        ]
        try step("The partition \(sqlName) was not made") { run throws(PostgresFailure) in
            try run.patiently { MigrationSteps.transaction(of: statements) }
        }
        report.changes.append("made \(name)")
    }

    // MARK: Rows

    /// Freezes the rows of each partition that gets no more, once.
    ///
    /// Otherwise, the server would do it for all of them at about the same time, when their transactions are old.
    private mutating func freezeClosed(_ table: PartitionedTable) throws {
        let end = now.microseconds - Self.closedAfter
        for partition in table.partitions
        where !partition.isDefault && partition.hasPages && partition.microseconds.upperBound <= end {
            guard partition.comment?.contains(Self.frozenMark) != true else { continue }
            let comment = (partition.comment.map { $0 + " " } ?? "") + Self.frozenMark
            try step("The partition \(partition.sqlName) was not frozen") { run throws(PostgresFailure) in
                try run.patiently { "VACUUM (FREEZE) \(partition.sqlName)" }
            }
            try setComment(of: partition, comment)
            report.changes.append("froze \(partition.name)")
        }
    }

    // MARK: Statements

    /// Adds to a server's error what was being done, and leaves the session without a transaction.
    func step(_ failed: String, _ body: (Self) throws(PostgresFailure) -> Void) throws {
        do {
            try base.step(failed) { () throws(PostgresFailure) in try body(self) }
        } catch let error as TrackerError {
            if !connection.isIdle { try connection.execute("ROLLBACK", limit) }
            throw error
        }
    }

    /// Runs statements, again while another session holds a lock that they need.
    func patiently(_ sql: () -> String) throws(PostgresFailure) {
        try PatientChange(connection: connection, limit: limit).run(sql())
    }
}
