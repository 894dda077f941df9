/// Loads one delivery over one connection: all of its tables in one transaction.
struct DeliveryLoader {
    /// How the rows are loaded.
    enum Mode {
        /// Straight into the tables, which is the normal way; a duplicate makes it fail.
        case directly
        /// Through staging tables, which skips duplicates.
        case throughStaging
        /// Through staging tables, without the rows that the server rejects and the tables that accept none; `slowly` if loading all of
        /// them took too long.
        case isolating(until: ContinuousClock.Instant, lockTimeout: Duration, slowly: Bool)
    }

    let connection: PostgresConnection
    let schema: String
    let rows: DeliveryRows
    /// What the transaction stores besides the rows; `nil` for nothing.
    let record: (any TransactionRecord)?
    let sender: RowSender
    let known: KnownTables
    let keys: KeysInUse
    let limit: WaitLimit
    /// How long each statement may take while all rows are loaded or none: a row or a table that hangs is then searched for.
    let statementTimeout: Duration

    /// Loads the rows.
    func load(_ mode: Mode) throws(PostgresFailure) -> LoadReport {
        switch mode {
        case .directly: try loadDirectly()
        case .throughStaging: try loadThroughStaging()
        case .isolating(let deadline, let lockTimeout, let slowly):
            try loadIsolating(until: deadline, lockTimeout: lockTimeout, slowly: slowly)
        }
    }

    private func loadDirectly() throws(PostgresFailure) -> LoadReport {
        let isKeyUnknown = rows.groups.contains { $0.hasServerTimes && keys.key(of: $0.target.table) == nil }
        if isKeyUnknown { _ = try inspect() }
        for group in rows.groups where recentIDs(of: group) != nil { try createStagingTable(of: group) }
        try begin()
        try lockRecentIDs()
        var report = LoadReport(rows)
        for group in rows.groups {
            // A repeated id is skipped here and does not make the load fail, so it is no reason to load through staging next time.
            if recentIDs(of: group) != nil {
                report.duplicates += try stage(group.positions[...], of: group)
                continue
            }
            _ = try sender.send(
                group.positions[...],
                of: rows,
                to: group.target,
                by: group.target.copy,
                over: connection,
                limit
            )
        }
        try commit(&report)
        return report
    }

    private func loadThroughStaging() throws(PostgresFailure) -> LoadReport {
        if rows.groups.contains(where: { keys.key(of: $0.target.table) == nil }) { _ = try inspect() }
        for group in rows.groups { try createStagingTable(of: group) }
        try begin()
        try lockRecentIDs()
        var report = LoadReport(rows)
        for group in rows.groups {
            report.duplicates += try stage(group.positions[...], of: group)
        }
        try commit(&report)
        return report
    }

    /// Reads the schema, and remembers its tables.
    func inspect() throws(PostgresFailure) -> PresentSchema {
        let present = try connection.presentSchema(named: schema, limit)
        known.note(present)
        keys.read(known)
        return present
    }

    /// Creates the group's staging table, unless it exists.
    func createStagingTable(of group: DeliveryRows.Group) throws(PostgresFailure) {
        guard !connection.stagingTables.contains(group.target.staging) else { return }
        try connection.execute(group.target.createStaging, limit)
        connection.stagingTables.insert(group.target.staging)
    }

    /// Loads rows through the group's staging table, and returns how many of them were already in the event's table, or repeat
    /// an earlier row of these.
    func stage(_ positions: ArraySlice<Int>, of group: DeliveryRows.Group) throws(PostgresFailure) -> Int {
        let target = group.target
        // The table has two groups, and their rows share the staging table.
        let clear = group.hasServerTimes ? target.clearStaging + "; " : ""
        let staged = try sender.send(
            positions,
            of: rows,
            to: target,
            by: clear + target.copyToStaging,
            over: connection,
            limit
        )
        let insert = target.insertFromStaging(
            key: keys.key(of: target.table) ?? [],
            recentIDs: recentIDs(of: group)
        )
        return staged - (try connection.execute(insert, limit))
    }

    /// Where the ids of a group's rows are remembered; `nil` if they need not be, or cannot be.
    func recentIDs(of group: DeliveryRows.Group) -> RecentIDs? {
        guard group.hasServerTimes, keys.hasRecentIDs, let key = keys.key(of: group.target.table),
            RecentIDs.areNeeded(forKey: key)
        else { return nil }
        return RecentIDs(schema: schema)
    }

    /// Keeps the halves of the recent ids as they are until the end of the transaction, if it uses them.
    func lockRecentIDs() throws(PostgresFailure) {
        guard rows.groups.contains(where: { recentIDs(of: $0) != nil }) else { return }
        _ = try connection.lastRows(of: RecentIDs(schema: schema).lock, limit)
    }

    /// Begins the transaction, and checks that it may store what it stores besides the rows.
    func begin() throws(PostgresFailure) {
        connection.hasSentCommit = false
        let begin = """
            BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = \(statementTimeout.milliseconds)
            """
        guard let record else {
            try connection.execute(begin, limit)
            return
        }
        try record.check(try connection.lastRows(of: "\(begin); \(record.opening)", limit).first)
    }

    /// Commits together with what the transaction stores besides the rows, or rolls back if that is not possible.
    func commit(_ report: inout LoadReport) throws(PostgresFailure) {
        try checkKeys()
        var closing = ""
        if let record {
            guard let statements = try record.closing(&report, self) else {
                try connection.execute("ROLLBACK", limit)
                return
            }
            closing = statements
        }
        connection.hasSentCommit = true
        try connection.execute(closing + "COMMIT", limit)
    }

    /// Checks that no table has been partitioned by time since its key was read, which decides whether ids are remembered.
    ///
    /// The table cannot change between this and the end of the transaction, which has rows in it.
    private func checkKeys() throws(PostgresFailure) {
        let tables = rows.groups.filter { group in
            group.hasServerTimes && !RecentIDs.areNeeded(forKey: keys.key(of: group.target.table) ?? [])
        }
        if tables.isEmpty { return }
        let names = tables.map { "pg_catalog.to_regclass(\(SQLText.literal($0.target.table.sqlName)))" }
        let query = """
            SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid
                AND a.attnum = ANY (i.indkey) AND a.attname = 'occurred_at'
            WHERE i.indisprimary AND i.indrelid IN (\(names.joined(separator: ", ")))
            """
        if try connection.lastRows(of: query, limit).isEmpty { return }
        try connection.execute("ROLLBACK", limit)
        // As if the server had found the conflict: the search for rejected rows, which follows, reads the keys again.
        throw PostgresFailure(source: .server, sqlState: "40001", message: "A table has been partitioned meanwhile.")
    }
}

/// What a load knows of the tables' keys; it reads them once, because another session may read other ones meanwhile.
final class KeysInUse {
    private var known: KnownKeys

    init(_ known: KnownTables) {
        self.known = known.keys
    }

    /// Reads them anew.
    func read(_ known: KnownTables) {
        self.known = known.keys
    }

    func key(of table: EventTable) -> [String]? { known.key(of: table) }

    var hasRecentIDs: Bool { known.hasRecentIDs }
}
