import EventModel
import TrackerKit

/// Partitions a table by time without copying its rows: the table becomes the first partition of a new one with its name.
///
/// Each step finds out what an earlier, interrupted run has done. Only the last one, which takes well under a second, keeps loads
/// and queries waiting.
struct TableConversion {
    /// The start of the name of the constraint that proves where the old rows end; the month follows.
    static let boundPrefix = "sluice_before_"
    /// The key of the new table.
    static let key = ["occurred_at", "id"]
    private static let userIndex = ["user_id", "occurred_at"]
    private static let dayInMicroseconds = Int64(86_400_000_000)

    let run: MaintenanceRun
    let table: EventTable
    /// The names of the dependents that may follow the old rows.
    let leaving: Set<String>

    private var connection: PostgresConnection { run.connection }
    private var limit: WaitLimit { run.limit }

    /// Converts the table; returns a line for each step that was made.
    func convert() throws -> [String] {
        guard let found = try read() else { throw TrackerError.notConvertible(table, "does not exist") }
        if found.kind == "p" { return [] }
        guard found.kind == "r" else { throw TrackerError.notConvertible(table, "is not an ordinary table") }
        try refuseDependents(of: found)
        try run.step("The schema of the partitions of \(table.sqlName) was not made") { run throws(PostgresFailure) in
            try run.connection.execute(SQLText.creationIfMissing(ofSchema: run.partitionSchema), run.limit)
        }
        var lines: [String] = []
        lines += try makeIndex(on: Self.key, isUnique: true, in: found)
        lines += try makeIndex(on: Self.userIndex, isUnique: false, in: found)
        let end = try prove(found)
        try exchange(endingBefore: end)
        return lines + ["partitioned \(table.name); its rows until \(end) are the first partition"]
    }

    private func read() throws(PostgresFailure) -> ConvertibleTable? {
        try ConvertibleTable.read(table, over: connection, limit)
    }

    private func refuseDependents(of found: ConvertibleTable) throws {
        let inTheWay = found.dependents.filter { !$0.canBeLeft }
        if !inTheWay.isEmpty {
            let list = inTheWay.map(\.description).joined(separator: ", ")
            throw TrackerError.notConvertible(
                table,
                "has what a partitioned table cannot have; remove it first: \(list)"
            )
        }
        let others = found.dependents.filter { !leaving.contains($0.name) }
        guard !others.isEmpty else { return }
        throw TrackerError.notConvertible(
            table,
            """
            has what would follow its old rows alone: \(others.map(\.description).joined(separator: ", ")); drop it, or repeat \
            the command with \(others.map { "--leave '\($0.name)'" }.joined(separator: " ")), and make it again for the new table
            """
        )
    }

    /// The tables whose conversion was begun and not completed, as problems.
    static func unfinished(
        among tables: [EventTable],
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [TrackerError] {
        var problems: [TrackerError] = []
        for table in tables {
            let rows = try connection.rows(
                of: """
                    SELECT conname FROM pg_catalog.pg_constraint
                    WHERE conrelid = to_regclass($1) AND conname ~ '^\(boundPrefix)[0-9]{4}_[0-9]{2}$'
                    """,
                parameters: [table.sqlName],
                limit
            )
            let end = rows.first?.first.flatMap { $0 }.flatMap(day(ofBound:))
            if let end { problems.append(.unfinishedConversion(of: table, until: end)) }
        }
        return problems
    }

    // MARK: Before the exchange

    /// Makes an index while loads go on, unless there is one; one that an interrupted run left is invalid, and is made again.
    private func makeIndex(on columns: [String], isUnique: Bool, in found: ConvertibleTable) throws -> [String] {
        func fits(_ index: ConvertibleTable.Index) -> Bool {
            index.isValid && !index.isPartial && index.columns == columns && (index.isUnique || !isUnique)
                && index.definition.hasPrefix(" USING btree (\(columns.joined(separator: ", ")))")
        }
        if found.indexes.contains(where: fits) { return [] }
        let name = TimePartition.name(of: table.name, suffix: "_\(columns.joined(separator: "_"))_idx")
        let list = columns.map(SQLText.identifier).joined(separator: ", ")
        try run.step("The index \(name) was not made") { run throws(PostgresFailure) in
            // It waits for all open transactions, each of which may be long, and keeps nobody waiting.
            try run.connection.execute("SET lock_timeout = 0", run.limit)
            if found.indexes.contains(where: { $0.name == name }) {
                let sqlName = SQLText.identifier(table.schema) + "." + SQLText.identifier(name)
                try run.connection.execute("DROP INDEX CONCURRENTLY \(sqlName)", run.limit)
            }
            try run.connection.execute(
                """
                CREATE \(isUnique ? "UNIQUE " : "")INDEX CONCURRENTLY \(SQLText.identifier(name)) ON \(table.sqlName) (\(list))
                """,
                run.limit
            )
        }
        return ["indexed \(table.name) by \(columns.joined(separator: " and "))"]
    }

    /// Has the server check that all rows are before a day, and returns it.
    ///
    /// While there is the constraint, the server refuses rows of that day and later ones. So it is more than a month away, and is made
    /// anew if an interrupted run was too long ago.
    private func prove(_ found: ConvertibleTable) throws -> CalendarDate {
        var end = TimePartition(of: .month, containing: day(inDays: 35)).end
        var isPresent = false
        if let name = found.bound, let bound = Self.day(ofBound: name) {
            if bound.daysSince1970 >= day(inDays: 10).daysSince1970 {
                (end, isPresent) = (bound, true)
            } else {
                try patiently("The constraint \(name) was not removed") {
                    "ALTER TABLE \(table.sqlName) DROP CONSTRAINT \(SQLText.identifier(name))"
                }
            }
        }
        try refuseRows(from: end)
        let name = SQLText.identifier(Self.nameOfBound(end))
        if !isPresent {
            try patiently("The constraint \(name) was not made") {
                """
                ALTER TABLE \(table.sqlName) ADD CONSTRAINT \(name) CHECK (occurred_at < '\(end)T00:00:00Z'::timestamptz) NOT VALID
                """
            }
        }
        try run.step("Not all rows of \(table.sqlName) are before \(end)") { run throws(PostgresFailure) in
            try run.connection.execute("SET lock_timeout = 0", run.limit)
            try run.connection.execute("ALTER TABLE \(table.sqlName) VALIDATE CONSTRAINT \(name)", run.limit)
        }
        return end
    }

    private func refuseRows(from end: CalendarDate) throws {
        let rows = try connection.rows(
            of: """
                SELECT count(*), max(occurred_at) AT TIME ZONE 'UTC' FROM \(table.sqlName) WHERE occurred_at >= $1::timestamptz
                """,
            parameters: ["\(end)T00:00:00Z"],
            limit
        )
        guard let row = rows.first, let count = row[0], count != "0" else { return }
        throw TrackerError.notConvertible(
            table,
            """
            has rows of \(end) or later, of which the last is of \(row[1] ?? "an unknown time"): \(count); correct or remove them: \
            SELECT * FROM \(table.sqlName) WHERE occurred_at >= '\(end)Z'
            """
        )
    }

    private func day(inDays days: Int64) -> CalendarDate {
        CalendarDate(daysSince1970: Int32((run.now.microseconds / Self.dayInMicroseconds) + days))
    }

    private static func nameOfBound(_ end: CalendarDate) -> String {
        boundPrefix + "\(end)".dropLast(3).replacing("-", with: "_")
    }

    static func day(ofBound name: String) -> CalendarDate? {
        CalendarDate(name.dropFirst(boundPrefix.count).replacing("_", with: "-") + "-01")
    }

    private func patiently(_ failed: String, _ sql: () -> String) throws {
        try run.step(failed) { run throws(PostgresFailure) in
            try run.connection.execute("SET lock_timeout = '\(try patience(locks: 1))ms'", run.limit)
            try run.patiently(sql)
        }
    }

    // MARK: The exchange

    /// How long to wait for each of some locks, in milliseconds.
    ///
    /// All together are less than the time after which the server looks for deadlocks, so that a query that waits for one of them, and
    /// has another, gets it instead of an error.
    private func patience(locks: Int) throws(PostgresFailure) -> Int {
        let setting = "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'deadlock_timeout'"
        let timeout =
            try connection.lastRows(of: setting, limit).first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 1000
        return max(10, timeout / (2 * (locks + 1)))
    }

    private func exchange(endingBefore end: CalendarDate) throws {
        try run.step("The table \(table.sqlName) was not exchanged") { run throws(PostgresFailure) in
            let change = PatientChange(connection: run.connection, limit: run.limit)
            try change.run { () throws(PostgresFailure) in
                guard let found = try read() else { throw PostgresFailure.timedOut }
                try connection.execute("BEGIN", limit)
                try lock(found)
                // What was changed in the meantime is read in the next attempt.
                guard try read() == found else {
                    throw PostgresFailure(source: .server, sqlState: "55P03", message: "the table is being changed")
                }
                let exchange = TableExchange(table: table, found: found, partitionSchema: run.partitionSchema, end: end)
                try connection.execute((exchange.statements + ["COMMIT"]).joined(separator: ";\n"), limit)
            }
        }
    }

    /// Locks the views before the table, as a query of a view does; a view is locked by giving it the owner that it has, because
    /// `LOCK TABLE` would also lock every other table of the view.
    private func lock(_ found: ConvertibleTable) throws(PostgresFailure) {
        try connection.execute("SET LOCAL lock_timeout = '\(try patience(locks: found.views.count + 1))ms'", limit)
        for view in found.views {
            try connection.execute("ALTER VIEW \(view.sqlName) OWNER TO \(view.owner)", limit)
        }
        try connection.execute("LOCK TABLE \(table.sqlName) IN ACCESS EXCLUSIVE MODE", limit)
    }
}

extension TrackerError {
    /// A table cannot be partitioned, as it is.
    static func notConvertible(_ table: EventTable, _ reason: String) -> TrackerError {
        TrackerError(code: .failed, message: "The table \(table.sqlName) \(reason).", isRetryable: false)
    }

    /// A conversion of a table was begun and not completed.
    static func unfinishedConversion(of table: EventTable, until end: CalendarDate) -> TrackerError {
        TrackerError(
            code: .notPrepared,
            message: """
                `sluice migrate --partition \(table.name)` was interrupted, and until it is completed, the table \(table.sqlName) \
                refuses events of \(end) and later; run it again.
                """,
            isRetryable: false
        )
    }
}
