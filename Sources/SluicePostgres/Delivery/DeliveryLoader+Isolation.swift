import TrackerKit

extension DeliveryLoader {
    /// Finds the tables that accept no rows, and by halves the rows that the server refuses, and loads all the others,
    /// in one transaction.
    ///
    /// What is loaded when `deadline` passes is kept, so that every try gets further than the one before. Each table
    /// gets one try of its own, however late it is: none waits for another one for ever. A lock is waited for no longer
    /// than `lockTimeout`.
    func loadIsolating(
        until deadline: ContinuousClock.Instant,
        lockTimeout: Duration
    ) throws(PostgresFailure) -> LoadReport {
        var report = LoadReport()
        let present = try connection.presentSchema(named: schema, limit)
        for group in rows.groups {
            // A table that somebody changed refuses every row; that is no fault of the events.
            if let reason = SchemaInspection.reason(against: group.target.table, in: present) {
                report.leave(group.positions, of: group, because: reason)
            } else {
                try createStagingTable(of: group, lockTimeout: lockTimeout, &report)
            }
        }
        try begin()
        // Otherwise a deferred constraint would fail the commit, and with it every row.
        try connection.execute(
            "SET LOCAL lock_timeout = \(lockTimeout.milliseconds); SET CONSTRAINTS ALL IMMEDIATE",
            limit
        )
        for group in rows.groups where !report.isBroken(group) {
            try isolate(in: group, until: deadline, &report)
        }
        try commit(report)
        for group in rows.groups where report.isBroken(group) { try dropStagingTable(of: group) }
        return report
    }

    private func createStagingTable(
        of group: DeliveryRows.Group,
        lockTimeout: Duration,
        _ report: inout LoadReport
    ) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            try createStagingTable(of: group, lockTimeout: lockTimeout)
        } catch {
            guard PostgresErrorClass.isOfTable(error) else { throw error }
            report.leave(group.positions, of: group, because: TrackerError(error, table: group.target.table.sqlName))
        }
    }

    private func isolate(
        in group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        _ report: inout LoadReport
    ) throws(PostgresFailure) {
        var pending = [group.positions[...]]
        while let part = pending.popLast() {
            if part.count < group.positions.count, ContinuousClock.now >= deadline {
                report.unsettled += part
                continue
            }
            guard let failure = try attempt(part, of: group, &report) else { continue }
            if PostgresErrorClass.isOfTable(failure) {
                let reason = TrackerError(failure, table: group.target.table.sqlName)
                return report.leave(([part] + pending).joined(), of: group, because: reason)
            }
            if part.count <= 1 {
                for position in part { report.refused[position] = failure.refusalReason }
                continue
            }
            let middle = part.startIndex + part.count / 2
            pending.append(part[middle...])
            pending.append(part[..<middle])
        }
    }

    /// Loads rows behind a savepoint; returns what the server has against them or their table, if it does not take
    /// them.
    private func attempt(
        _ part: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        _ report: inout LoadReport
    ) throws(PostgresFailure) -> PostgresFailure? {
        do {
            report.duplicates += try stage(
                part,
                of: group,
                before: "SAVEPOINT part; ",
                after: "; \(group.target.clearStaging); RELEASE SAVEPOINT part"
            )
            return nil
        } catch {
            switch PostgresErrorClass(error) {
            // A duplicate of the id never comes here; this one is of somebody's own unique index.
            case .refused, .duplicate: break
            case _ where PostgresErrorClass.isOfTable(error): break
            default: throw error
            }
            try connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part", limit)
            return error
        }
    }
}

extension PostgresFailure {
    /// The server's words and code, for the quarantine.
    var refusalReason: String {
        message + (sqlState.map { " (SQLSTATE \($0))" } ?? "")
    }
}
