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
        lockTimeout: Duration,
        slowly: Bool
    ) throws(PostgresFailure) -> LoadReport {
        var report = LoadReport(rows)
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
        try lockRecentIDs()
        for group in rows.groups where !report.isBroken(group) {
            try isolate(in: group, until: deadline, lockTimeout: lockTimeout, slowly: slowly, &report)
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
            try createSearch(of: group)
        } catch {
            guard error.source == .server, connection.isSettled else { throw error }
            report.leave(group.positions, of: group, because: TrackerError(error, table: group.target.table.sqlName))
        }
    }

    /// Creates the function that searches a table's rows, unless the session has it.
    private func createSearch(of group: DeliveryRows.Group) throws(PostgresFailure) {
        let key = keys.key(of: group.target.table) ?? []
        let search = RowSearch(of: group.target, recentIDs: recentIDs(of: group))
        guard connection.searchKeys[search.name] != key else { return }
        try connection.execute(search.create(key: key), limit)
        connection.searchKeys[search.name] = key
    }

    /// Loads the rows of one table, and finds those that it does not accept.
    private func isolate(
        in group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        lockTimeout: Duration,
        slowly: Bool,
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
        var found = GroupFindings()
        var pending = [group.positions[...]]
        if slowly { pending = [try probe(group.positions[...], of: group, &found, &report)] }
        var hasSearched = false
        while let part = pending.popLast() {
            if part.isEmpty { continue }
            if hasSearched, ContinuousClock.now >= deadline {
                report.unsettled += part
                continue
            }
            hasSearched = true
            // Even if other tables, or sending the rows, took until the deadline.
            let end = max(deadline, .now + Self.shortestSearch)
            switch try search(part, of: group, until: end, width: slowly ? 1 : Self.firstPart, &found, &report) {
            case nil: continue
            case .unstaged(let failure) where part.count == 1: found.failures.append((part[part.startIndex], failure))
            case .unstaged:
                let middle = part.startIndex + part.count / 2
                pending.append(part[middle...])
                pending.append(part[..<middle])
            case .unsearched(let failure) where failure.isOfTimeLimit && slowly:
                // The first row alone has taken all the time.
                let reason = TrackerError(failure, table: table)
                report.leave(part.prefix(1), of: group, because: reason, isWholeTable: false)
                report.unsettled += part.dropFirst()
            case .unsearched(let failure) where failure.isOfTimeLimit:
                report.unsettled += try probe(part, of: group, &found, &report)
            case .unsearched(let failure):
                let isWhole = part.count == group.positions.count
                report.leave(part, of: group, because: TrackerError(failure, table: table), isWholeTable: isWhole)
            }
        }
        report.hasAccepted = report.hasAccepted || found.hasAccepted
        judge(found.failures, of: group, hasAccepted: found.hasAccepted, &report)
    }

    /// What is known of the rows of one table.
    private struct GroupFindings {
        /// The rows that failed alone.
        var failures: [(position: Int, failure: PostgresFailure)] = []
        var hasAccepted = false
    }

    /// Why a search has no result.
    private enum SearchFailure {
        /// The rows could not be copied into the staging table.
        case unstaged(PostgresFailure)
        /// The search failed, for example because the first part took too long.
        case unsearched(PostgresFailure)
    }

    /// Tries a few rows of a table alone that has taken too long, to tell single rows from the table, and a slow table from one that does
    /// not answer.
    ///
    /// Returns the rows that were not tried. If no sample was answered, all rows are stuck, and none is returned.
    private func probe(
        _ part: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        _ found: inout GroupFindings,
        _ report: inout LoadReport
    ) throws(PostgresFailure) -> ArraySlice<Int> {
        let table = group.target.table.sqlName
        let places = Set((0..<Self.samples).map { $0 * (part.count - 1) / (Self.samples - 1) }).sorted()
        var tried: Set<Int> = []
        var hanging: [Int] = []
        var reason: PostgresFailure?
        for place in places where hanging.count == tried.count {
            let sample = part[part.startIndex + place]
            tried.insert(sample)
            switch try search([sample], of: group, until: .now, width: 1, &found, &report) {
            case .unsearched(let failure)? where failure.isOfTimeLimit:
                hanging.append(sample)
                reason = failure
            case .unsearched(let failure)?, .unstaged(let failure)?: found.failures.append((sample, failure))
            case nil: break
            }
        }
        if let reason = reason.map({ TrackerError($0, table: table) }) {
            guard hanging.count < tried.count else {
                let isWhole = part.count == group.positions.count && part.count >= Self.samples
                report.leave(part, of: group, because: reason, isWholeTable: isWhole)
                return []
            }
            report.leave(hanging, of: group, because: reason, isWholeTable: false)
        }
        return part.filter { !tried.contains($0) }[...]
    }

    /// Copies rows into the staging table, and searches them for those that their table does not accept; returns why it has no result.
    private func search(
        _ part: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        width: Int,
        _ found: inout GroupFindings,
        _ report: inout LoadReport
    ) throws(PostgresFailure) -> SearchFailure? {
        var result = RowSearch.Result()
        var isStaged = false
        let failure = try attempt { () throws(PostgresFailure) in
            result = try search(part, of: group, until: deadline, width: width, &isStaged)
        }
        if let failure { return isStaged ? .unsearched(failure) : .unstaged(failure) }
        let staged = part.filter { sender.defects[$0] == nil }
        found.failures += result.failures.map { (staged[$0.place], $0.failure) }
        report.unsettled += staged[result.end...]
        let accepted = result.end - result.failures.count
        report.duplicates += accepted - result.inserted
        found.hasAccepted = found.hasAccepted || accepted > 0
        return nil
    }

    private func search(
        _ part: ArraySlice<Int>,
        of group: DeliveryRows.Group,
        until deadline: ContinuousClock.Instant,
        width: Int,
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
        let search = RowSearch(of: target, recentIDs: recentIDs(of: group))
        let time = max(.milliseconds(1), deadline - .now)
        // The search ends by itself, unless a single statement takes too long.
        let timeout = min(limit.remaining, time + Self.lastPartTime)
        try connection.execute("SET LOCAL statement_timeout = \(timeout.milliseconds)", limit)
        let run = search.run(for: time, width: width, timeout: timeout)
        let result = try search.result(try connection.lastRows(of: run, limit))
        try connection.execute("\(target.clearStaging); RELEASE SAVEPOINT part", limit)
        return result
    }

    /// How long a search has at least, and how long its last part may take.
    private static let (shortestSearch, lastPartTime) = (Duration.milliseconds(250), Duration.seconds(1))

    /// How many rows a search tries at first, unless loading all of them took too long.
    private static let firstPart = 100

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
    /// Whether a statement took too long.
    var isOfTimeLimit: Bool { sqlState == "57014" }

    /// The server's message and code, for the quarantine.
    var refusalReason: String {
        message + (sqlState.map { " (SQLSTATE \($0))" } ?? "")
    }
}
