import TrackerKit

extension PostgresSession {
    /// The time limit of each statement that loads all rows or none, for which a healthy server needs milliseconds.
    ///
    /// Together with the time of the search, it leaves the rows of other tables about ten seconds late.
    private static let statementTime = Duration.seconds(4)
    /// What is added to it, because the rows have to be sent: as much as a slow network needs, with 2 MiB in a second.
    private static let sendingTimePerByte = Duration.seconds(1) / (2 << 20)
    /// The time limit of the search for rejected rows, after which the loaded rows are committed and the rest is
    /// retried.
    private static let isolationTime = Duration.seconds(4)
    /// How long that search waits for locked tables, all of them together.
    private static let isolationLockTime = Duration.seconds(1)

    /// Loads a delivery and returns its outcome.
    func load(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        if delivery.count == 0 { return .delivered }
        do throws(TrackerError) {
            if try takeUp(delivery, interrupt) { return .delivered }
        } catch {
            return .retry(error)
        }
        var rows = DeliveryRows(delivery, &targets)
        sender.reset()
        do throws(PostgresFailure) {
            try removeRowsWithoutPartition(from: &rows, interrupt)
            // Otherwise a replay of old events would park all of them.
            if configuration.requiresEveryTable, let part = rows.withoutPartition.first {
                return .retry(.noPartition(in: part.target.table, for: part.earliest))
            }
            let report = try load(&rows, interrupt) { mode, rows throws(PostgresFailure) in
                try attempt(mode, rows, interrupt)
            }
            exchangeRecentIDs(for: rows, interrupt)
            return outcome(report)
        } catch {
            return .retry(TrackerError(error))
        }
    }

    /// Loads rows with as many attempts as they need: all rows if the server accepts them, otherwise those that it accepts.
    ///
    /// Whatever the server says about a whole delivery, the rest of it is tried by itself, as long as the connection answers.
    ///
    /// - Throws: The failure of the whole delivery if the connection does not answer, or if the server accepted no row of it and the
    ///   error is not about rows or tables.
    func load(
        _ rows: inout DeliveryRows,
        _ interrupt: Interrupt,
        _ attempt: (DeliveryLoader.Mode, DeliveryRows) throws(PostgresFailure) -> LoadReport
    ) throws(PostgresFailure) -> LoadReport {
        var failure: PostgresFailure?
        // Nothing is sent to such a table; the inspection of the other way shows whether it has been repaired.
        let isMistyped = rows.groups.contains { known.isMistyped($0.target.table) }
        do {
            if !isMistyped { return try loadCovered(&rows, interrupt, attempt) }
        } catch {
            // Two sessions have inserted the same keys in different orders; the staging tables sort them.
            if error.sqlState == "40P01", rows.groups.contains(where: { known.key(of: $0.target.table) != [] }) {
                memory.noteDuplicates()
            }
            guard error.source == .server, isConnected, PostgresErrorClass(error) != .superseded else { throw error }
            failure = error
        }
        let deadline = ContinuousClock.now + min(Self.isolationTime, configuration.deliveryTimeout / 2)
        // The waits for locked tables together must leave time for the other tables.
        let lockTimeout = min(lockTimeout, Self.isolationLockTime / max(1, rows.groups.count))
        var report: LoadReport
        do {
            report = try attempt(
                .isolating(until: deadline, lockTimeout: lockTimeout, slowly: failure?.isOfTimeLimit == true),
                rows
            )
        } catch {
            // The server may have become a standby, or the role may have changed.
            if [.unavailable, .misconfigured, .notPrepared].contains(PostgresErrorClass(error)) { close() }
            throw error
        }
        if report.abandonment == nil {
            refusalLog.note(report.refusalKinds, tracker: configuration.name, to: logger)
        }
        note(report)
        if let failure, report.isWithoutEvidence, PostgresErrorClass(failure) == .unavailable {
            // The server may have become a standby; a conflict of transactions says nothing of the kind.
            if failure.sqlState?.hasPrefix("40") == true { throw failure }
            close()
            guard case .stuck = report.abandonment else { throw failure }
            // The tables may be the only ones that are full, for example.
            report.abandonment = .stuck(TrackerError(failure), acceptsOthers: false)
        }
        return report
    }

    /// Loads all rows or none; without those for whose times a table has no partition any more.
    private func loadCovered(
        _ rows: inout DeliveryRows,
        _ interrupt: Interrupt,
        _ attempt: (DeliveryLoader.Mode, DeliveryRows) throws(PostgresFailure) -> LoadReport
    ) throws(PostgresFailure) -> LoadReport {
        do throws(PostgresFailure) {
            return try loadWhole(rows, attempt)
        } catch {
            guard error.isOfMissingPartition else { throw error }
            try readPartitions(interrupt)
            guard rows.removeWithoutPartition(known) else { throw error }
        }
        return try loadWhole(rows, attempt)
    }

    /// Loads all rows or none.
    private func loadWhole(
        _ rows: DeliveryRows,
        _ attempt: (DeliveryLoader.Mode, DeliveryRows) throws(PostgresFailure) -> LoadReport
    ) throws(PostgresFailure) -> LoadReport {
        if !memory.isWary {
            do {
                return try attempt(.directly, rows)
            } catch  where PostgresErrorClass(error) == .duplicate {
                memory.noteDuplicates()
            }
        }
        let report = try attempt(.throughStaging, rows)
        note(report)
        return report
    }

    /// Removes the rows for whose times a table has no partition.
    ///
    /// The partitions are read again if one is missing, because it may have been made since.
    func removeRowsWithoutPartition(from rows: inout DeliveryRows, _ interrupt: Interrupt) throws(PostgresFailure) {
        let isMissingOne = rows.lackPartitions(known)
        let isReadAgain = known.mayReadPartitions(isMissingOne: isMissingOne)
        if isReadAgain {
            do throws(PostgresFailure) {
                try readPartitions(interrupt)
            } catch {
                // The rows are loaded by what is known.
                guard error.source == .server, isConnected else { throw error }
            }
        }
        if isMissingOne || isReadAgain { _ = rows.removeWithoutPartition(known) }
    }

    /// Reads which partitions the tables have.
    private func readPartitions(_ interrupt: Interrupt) throws(PostgresFailure) {
        let coverages = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            // Somebody may have granted what was missing.
            if !known.hasRecentIDs { known.note(try connection.presentSchema(named: configuration.schema, limit)) }
            return try PartitionCoverage.read(inSchema: configuration.schema, over: connection, limit)
        }
        known.note(coverages)
    }

    /// Loads the rows in one transaction, together with the checkpoint of their journal.
    private func attempt(
        _ mode: DeliveryLoader.Mode,
        _ rows: DeliveryRows,
        _ interrupt: Interrupt
    ) throws(PostgresFailure) -> LoadReport {
        let record = rows.journal.map { journal in
            CheckpointRecord(
                opening: checkpoints.lockAndRead(for: journal),
                expected: checkpointMemory.known(of: journal) ?? nil,
                store: rows.checkpoint.map(checkpoints.store)
            )
        }
        if let checkpoint = rows.checkpoint { checkpointMemory.sends(checkpoint) }
        do throws(PostgresFailure) {
            let report = try withConnection(interrupt, timeout: configuration.deliveryTimeout, isLoading: true) {
                connection,
                limit throws(PostgresFailure) in
                try loader(of: rows, record, connection, limit).load(mode)
            }
            if let checkpoint = rows.checkpoint {
                checkpointMemory.ended(checkpoint, isStored: report.isWhole && sender.defects.isEmpty)
            }
            return report
        } catch {
            if let journal = rows.journal, PostgresErrorClass(error) == .superseded {
                checkpointMemory.supersede(in: journal)
            } else if let checkpoint = rows.checkpoint, isConnected {
                // The server has said that it was rolled back; otherwise the next connection finds out.
                checkpointMemory.ended(checkpoint, isStored: false)
            }
            throw error
        }
    }

    /// The loader of a transaction over the session's connection.
    func loader(
        of rows: DeliveryRows,
        _ record: (any TransactionRecord)?,
        _ connection: PostgresConnection,
        _ limit: WaitLimit
    ) -> DeliveryLoader {
        DeliveryLoader(
            connection: connection,
            schema: configuration.schema,
            rows: rows,
            record: record,
            sender: sender,
            known: known,
            keys: KeysInUse(known),
            limit: limit,
            statementTimeout: max(lockTimeout, min(Self.statementTime, configuration.deliveryTimeout / 4))
                + Self.sendingTimePerByte * rows.byteCount
        )
    }

    private func note(_ report: LoadReport) {
        if report.duplicates > 0 { memory.noteDuplicates() } else { memory.noteClean() }
    }

    private func outcome(_ report: LoadReport) -> DeliveryOutcome {
        var reasons = report.refused
        for (position, defect) in sender.defects { reasons[position] = defect.reason }
        var stuck: [DeliveryOutcome.Stuck] = []
        var left = report.unsettled.filter { reasons[$0] == nil }
        for part in report.stuck {
            let positions = part.positions.filter { reasons[$0] == nil }
            left += positions
            // Otherwise the server may be at fault.
            guard !positions.isEmpty, report.hasAccepted else { continue }
            stuck.append(.init(positions: positions, reason: part.reason, isWholeName: part.isWholeTable))
        }
        left.sort()
        let retry = DeliveryOutcome.Retry(
            positions: left,
            reason: report.stuck.first?.reason ?? .isolationUnfinished,
            stuck: stuck
        )
        return DeliveryOutcome(
            refusals: reasons.sorted { $0.key < $1.key }.map { .init(position: $0.key, reason: $0.value) },
            parked: report.withoutPartition.map { .init(positions: $0.positions, reason: $0.reason) },
            retry: left.isEmpty ? nil : retry,
            alreadyStored: report.duplicates
        )
    }
}

extension TrackerError {
    /// Many rows were rejected, and finding them takes another delivery.
    static let isolationUnfinished = TrackerError(
        code: .timeout,
        message: "PostgreSQL refuses many rows, and there was not enough time to find them all.",
        isRetryable: true
    )
}
