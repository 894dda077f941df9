/// Loads one delivery over one connection: all of its tables in one transaction.
struct DeliveryLoader {
    /// The statements of a transaction for the checkpoint of its journal.
    struct Checkpointing {
        /// Waits for other transactions, and reads the stored checkpoint.
        let lockAndRead: String
        /// The checkpoint that must be stored; `nil` if none.
        let expected: UInt64?
        /// Stores the delivery's checkpoint; `nil` if the delivery is a part of another one.
        let store: String?
    }

    let connection: PostgresConnection
    let schema: String
    let rows: DeliveryRows
    /// `nil` without a journal.
    let checkpointing: Checkpointing?
    let sender: RowSender
    let limit: WaitLimit

    /// Loads the rows straight into the tables, which is the normal way.
    ///
    /// A duplicate makes it fail.
    func loadDirectly() throws(PostgresFailure) -> LoadReport {
        try begin()
        for group in rows.groups {
            _ = try sender.send(
                group.positions[...],
                of: rows,
                group.target.layout,
                by: group.target.copy,
                over: connection,
                limit
            )
        }
        let report = LoadReport()
        try commit(report)
        return report
    }

    /// Loads the rows through staging tables, which skips duplicates.
    func loadThroughStaging() throws(PostgresFailure) -> LoadReport {
        for group in rows.groups { try createStagingTable(of: group) }
        try begin()
        var report = LoadReport()
        for group in rows.groups {
            report.duplicates += try stage(group.positions[...], of: group)
        }
        try commit(report)
        return report
    }

    /// Creates the group's staging table, unless it exists.
    ///
    /// The wait for a lock on the event's table ends after `lockTimeout`; by default the session's timeout applies.
    func createStagingTable(of group: DeliveryRows.Group, lockTimeout: Duration? = nil) throws(PostgresFailure) {
        guard !connection.stagingTables.contains(group.target.staging) else { return }
        // Statements that are sent together are one transaction.
        let setting = lockTimeout.map { "SET LOCAL lock_timeout = \($0.milliseconds); " } ?? ""
        try connection.execute(setting + group.target.createStaging, limit)
        connection.stagingTables.insert(group.target.staging)
    }

    /// Drops the staging table, because a repaired event table may have other columns.
    func dropStagingTable(of group: DeliveryRows.Group) throws(PostgresFailure) {
        guard connection.stagingTables.contains(group.target.staging) else { return }
        try connection.execute(group.target.dropStaging, limit)
        connection.stagingTables.remove(group.target.staging)
    }

    /// Loads rows through the group's staging table, and returns how many of them were already in the event's table.
    ///
    /// `before` and `after` are statements to run in the same round trips.
    func stage(
        _ positions: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        before: String = "",
        after: String = ""
    ) throws(PostgresFailure) -> Int {
        let target = group.target
        let staged = try sender.send(
            positions,
            of: rows,
            target.layout,
            by: before + target.copyToStaging,
            over: connection,
            limit
        )
        return staged - (try connection.execute(target.insertFromStaging + after, limit))
    }

    /// Begins the transaction.
    ///
    /// With a journal, waits for the lock and checks that the stored checkpoint is the one that this session knows.
    func begin() throws(PostgresFailure) {
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        guard let checkpointing else {
            try connection.execute(begin, limit)
            return
        }
        let row = try connection.lastRows(of: "\(begin); \(checkpointing.lockAndRead)", limit).first
        let stored = row?.first.flatMap { $0.flatMap { UInt64($0) } }
        guard stored == checkpointing.expected else { throw .superseded(by: stored) }
    }

    /// Commits, and stores the checkpoint unless a row of the delivery was left out.
    func commit(_ report: LoadReport) throws(PostgresFailure) {
        let isWhole = report.isWhole && sender.defects.isEmpty
        let store = isWhole ? checkpointing?.store.map { $0 + "; " } ?? "" : ""
        try connection.execute(store + "COMMIT", limit)
    }
}
