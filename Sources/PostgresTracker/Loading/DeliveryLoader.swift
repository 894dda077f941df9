/// Loads one delivery over one connection: all of its tables in one transaction.
struct DeliveryLoader {
    let connection: PostgresConnection
    let rows: DeliveryRows
    /// How the delivery's checkpoint is stored; `nil` where it has none.
    let checkpoint: CheckpointTable.Statements?
    let sender: RowSender
    let limit: WaitLimit

    /// Straight into the tables: the normal way.
    ///
    /// A duplicate fails it.
    func loadDirectly() throws(PostgresFailure) {
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
        try commit()
    }

    /// Through staging tables, where duplicates are left behind; returns how many there were.
    func loadThroughStaging() throws(PostgresFailure) -> Int {
        try createStagingTables()
        try begin()
        var duplicates = 0
        for group in rows.groups {
            duplicates += try stage(group.positions[...], of: group)
        }
        try commit()
        return duplicates
    }

    func createStagingTables() throws(PostgresFailure) {
        for group in rows.groups where connection.stagingTables.insert(group.target.staging).inserted {
            try connection.execute(group.target.createStaging, limit)
        }
    }

    /// Takes rows through the group's staging table; returns how many of them were there already.
    ///
    /// `before` and `after` are statements for the same round trips.
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

    func begin() throws(PostgresFailure) {
        let lock = checkpoint.map { "; " + $0.lock } ?? ""
        try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" + lock, limit)
    }

    /// Commits, and with it the checkpoint, unless a row of the delivery is left out.
    func commit(leavesOut: Bool = false) throws(PostgresFailure) {
        let isWhole = !leavesOut && sender.defects.isEmpty
        let store = isWhole ? checkpoint.map { $0.store + "; " } ?? "" : ""
        try connection.execute(store + "COMMIT", limit)
    }
}
