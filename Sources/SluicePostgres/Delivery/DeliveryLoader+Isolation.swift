import TrackerKit

extension DeliveryLoader {
    /// Finds the broken tables, finds the rows that the server rejects by bisection, and loads all others in one transaction.
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
        try commit(&report)
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

    /// Loads rows after a savepoint, and rolls back to it if that fails.
    ///
    /// Returns the server's error about the rows or their table; `nil` if all rows were accepted.
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
            // A row with a duplicate key is skipped, so this one violates a unique index of the user's own.
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
    /// The server's message and code, for the quarantine.
    var refusalReason: String {
        message + (sqlState.map { " (SQLSTATE \($0))" } ?? "")
    }
}
