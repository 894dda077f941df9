extension DeliveryLoader {
    /// What became of the rows of a delivery in which the server refuses some.
    struct Isolation {
        /// The refused rows by position, with the server's words.
        var refused: [Int: String] = [:]
        /// The rows that there was no time for, ascending.
        var unsettled: [Int] = []
        var duplicates = 0
    }

    /// Finds the rows that the server refuses, by halves, and loads all the others, in one transaction.
    ///
    /// What is loaded when `deadline` passes is kept, so that every try gets further than the one before.
    func loadIsolating(until deadline: ContinuousClock.Instant) throws(PostgresFailure) -> Isolation {
        try createStagingTables()
        try begin()
        // Otherwise a deferred constraint would fail the commit, and with it every row.
        try connection.execute("SET CONSTRAINTS ALL IMMEDIATE", limit)
        var isolation = Isolation()
        for group in rows.groups {
            try isolate(in: group, until: deadline, &isolation)
        }
        try commit(leavesOut: !isolation.refused.isEmpty || !isolation.unsettled.isEmpty)
        isolation.unsettled.sort()
        return isolation
    }

    private func isolate(
        in group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        _ isolation: inout Isolation
    ) throws(PostgresFailure) {
        var pending = [group.positions[...]]
        while let part = pending.popLast() {
            if ContinuousClock.now >= deadline {
                isolation.unsettled += part
                continue
            }
            guard let refusal = try attempt(part, of: group, &isolation) else { continue }
            if part.count <= 1 {
                for position in part { isolation.refused[position] = refusal.refusalReason }
                continue
            }
            let middle = part.startIndex + part.count / 2
            pending.append(part[middle...])
            pending.append(part[..<middle])
        }
    }

    /// Loads rows behind a savepoint; returns what the server has against them, if it refuses any.
    private func attempt(
        _ part: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        _ isolation: inout Isolation
    ) throws(PostgresFailure) -> PostgresFailure? {
        do {
            isolation.duplicates += try stage(
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
