import TrackerKit

/// Whose fault a failed load is follows from what else works, whatever the error's code: a statement that fails on a connection
/// that still answers, while other rows are accepted, is the fault of its row or its table.
extension DeliveryLoader {
    /// Loads every row that the server accepts in one transaction; finds the others, and the tables that accept none.
    ///
    /// The rows that are loaded when `deadline` passes are committed, so that every retry makes progress. Each table gets
    /// at least one attempt, even after the deadline, so that no table starves another. A wait for a lock ends after
    /// `lockTimeout`.
    func loadIsolating(
        until deadline: ContinuousClock.Instant,
        lockTimeout: Duration
    ) throws(PostgresFailure) -> LoadReport {
        var report = LoadReport()
        let present = try inspect()
        for group in rows.groups {
            // A table that was altered rejects every row, which is not the fault of the events.
            if let reason = SchemaInspection.reason(against: group.target.table, in: present) {
                report.leave(group.positions, of: group, because: reason)
            } else {
                try prepare(group, &report)
            }
        }
        try begin()
        // Otherwise a deferred constraint would fail the commit, and with it every row.
        try connection.execute("SET CONSTRAINTS ALL IMMEDIATE", limit)
        for group in rows.groups where !report.isBroken(group) {
            try isolate(in: group, until: deadline, lockTimeout: lockTimeout, &report)
        }
        try connection.execute("SET LOCAL statement_timeout = \(limit.remaining.milliseconds)", limit)
        try commit(&report)
        return report
    }

    /// Creates what the search for a table's rejected rows needs.
    private func prepare(
        _ group: DeliveryRows.Group,
        _ report: inout LoadReport
    ) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            try createStagingTable(of: group)
            try createSearch(of: group.target)
        } catch {
            guard error.source == .server, connection.isSettled else { throw error }
            report.leave(group.positions, of: group, because: TrackerError(error, table: group.target.table.sqlName))
        }
    }

    /// Creates the function that searches a table's rows, unless the session has it.
    private func createSearch(of target: LoadTarget) throws(PostgresFailure) {
        let key = known.key(of: target.table) ?? []
        guard connection.searchKeys[target.number] != key else { return }
        try connection.execute(RowSearch(of: target).create(key: key), limit)
        connection.searchKeys[target.number] = key
    }

    /// Loads the rows of one table, and finds those that it does not accept.
    private func isolate(
        in group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        lockTimeout: Duration,
        _ report: inout LoadReport
    ) throws(PostgresFailure) {
        let table = group.target.table.sqlName
        var types: [[String?]] = []
        let failure = try attempt { () throws(PostgresFailure) in
            let timeouts =
                "SET LOCAL statement_timeout = \(limit.remaining.milliseconds); "
                + "SET LOCAL lock_timeout = \(lockTimeout.milliseconds)"
            types = try connection.lastRows(of: "SAVEPOINT part; \(timeouts); \(group.target.lockAndReadTypes)", limit)
            try connection.execute("RELEASE SAVEPOINT part", limit)
        }
        if let failure = failure ?? group.target.mismatch(with: types) {
            return report.leave(group.positions, of: group, because: TrackerError(failure, table: table))
        }
        var failures: [(position: Int, failure: PostgresFailure)] = []
        var hasAccepted = false
        var pending = [group.positions[...]]
        while let part = pending.popLast() {
            if part.count < group.positions.count, ContinuousClock.now >= deadline {
                report.unsettled += part
                continue
            }
            var result = RowSearch.Result()
            var isStaged = false
            let failure = try attempt { () throws(PostgresFailure) in
                result = try search(part, of: group, until: deadline, &isStaged)
            }
            if let failure {
                if isStaged {
                    // The search has found no single rows, for example because the first ones hung until the deadline.
                    let hasHung = failure.sqlState == "57014"
                    report.leave(
                        part,
                        of: group,
                        because: TrackerError(failure, table: table),
                        isWholeTable: part.count == group.positions.count && (!hasHung || part.count >= Self.samples)
                    )
                } else if part.count <= 1 {
                    failures += part.map { ($0, failure) }
                } else {
                    let middle = part.startIndex + part.count / 2
                    pending.append(part[middle...])
                    pending.append(part[..<middle])
                }
                continue
            }
            let staged = part.filter { sender.defects[$0] == nil }
            failures += result.failures.map { (staged[$0.place], $0.failure) }
            report.unsettled += staged[result.end...]
            let accepted = result.end - result.failures.count
            report.duplicates += accepted - result.inserted
            hasAccepted = hasAccepted || accepted > 0
        }
        report.hasAccepted = report.hasAccepted || hasAccepted
        judge(failures, of: group, hasAccepted: hasAccepted, &report)
    }

    /// Copies rows into the staging table, and searches them for those that their table does not accept.
    private func search(
        _ part: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        _ isStaged: inout Bool
    ) throws(PostgresFailure) -> RowSearch.Result {
        let target = group.target
        _ = try sender.send(
            part,
            of: rows,
            to: target,
            by: "SAVEPOINT part; " + target.copyToStaging,
            over: connection,
            limit
        )
        isStaged = true
        let search = RowSearch(of: target)
        // However long the rows were on their way.
        let time = max(Self.firstPartTime, deadline - .now)
        // The search ends by itself, unless a single statement takes too long.
        try connection.execute(
            "SET LOCAL statement_timeout = \((min(limit.remaining, time + Self.lastPartTime)).milliseconds)",
            limit
        )
        let result = try search.result(try connection.lastRows(of: search.run(for: time), limit))
        try connection.execute("\(target.clearStaging); RELEASE SAVEPOINT part", limit)
        return result
    }

    /// How long a search has at least.
    private static let firstPartTime = Duration.milliseconds(250)
    /// How long the last part of a search may take.
    private static let lastPartTime = Duration.seconds(1)

    /// How many rows of a table have to fail alone, and none to be accepted, before the table counts as broken.
    private static let samples = 4

    /// Decides what becomes of the rows that failed alone.
    ///
    /// A row is refused at once if the error is about its data, or if its table has accepted others and the error does not pass by
    /// itself. Otherwise it is stuck: it is retried, and parked if that does not help while others are delivered.
    private func judge(
        _ failures: [(position: Int, failure: PostgresFailure)],
        of group: DeliveryRows.Group,
        hasAccepted: Bool,
        _ report: inout LoadReport
    ) {
        // By the whole reason, because the code of the server is in it.
        var stuck: [String: (positions: [Int], reason: TrackerError)] = [:]
        for (position, failure) in failures {
            let isOfData = [.refused, .duplicate].contains(PostgresErrorClass(failure))
            let isRefused = isOfData || hasAccepted && !PostgresErrorClass.mayPass(failure)
            if isRefused, !failure.isOfMissingPartition {
                report.refused[position] = failure.refusalReason
                let kind = RefusalLog.Kind(table: group.target.table.sqlName, sqlState: failure.sqlState ?? "")
                report.refusalKinds[kind, default: 0] += 1
            } else {
                let reason = TrackerError(failure, table: group.target.table.sqlName)
                stuck[reason.description, default: ([], reason)].positions.append(position)
            }
        }
        let count = stuck.values.reduce(0) { $0 + $1.positions.count }
        let isWholeTable = !hasAccepted && count >= Self.samples && count == group.positions.count
        for (positions, reason) in stuck.values.sorted(by: { $0.positions[0] < $1.positions[0] }) {
            report.leave(positions, of: group, because: reason, isWholeTable: isWholeTable)
        }
    }

    /// Runs statements that begin with the savepoint `part`, and rolls back to it if the server rejects one.
    ///
    /// Returns the server's error; `nil` if there was none.
    private func attempt(_ body: () throws(PostgresFailure) -> Void) throws(PostgresFailure) -> PostgresFailure? {
        do {
            try body()
            return nil
        } catch {
            // On a connection that does not answer, this fails.
            guard error.source == .server, connection.isSettled else { throw error }
            try connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part", limit)
            return error
        }
    }
}

extension PostgresFailure {
    /// The server's message and code, for the quarantine.
    var refusalReason: String {
        message + (sqlState.map { " (SQLSTATE \($0))" } ?? "")
    }
}
