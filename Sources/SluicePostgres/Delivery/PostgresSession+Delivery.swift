import TrackerKit

extension PostgresSession {
    /// The time limit of the search for rejected rows, after which the loaded rows are committed and the rest is
    /// retried.
    private static let isolationTime = Duration.seconds(5)

    /// Loads a delivery and returns its outcome.
    func load(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        if delivery.count == 0 { return .delivered }
        do throws(TrackerError) {
            if try takeUp(delivery, interrupt) { return .delivered }
        } catch {
            return .retry(error)
        }
        let rows = DeliveryRows(delivery, &targets)
        sender.reset()
        do {
            try loadWhole(rows, interrupt)
            return outcome(LoadReport())
        } catch {
            switch PostgresErrorClass(error) {
            case .refused, .duplicate: return isolate(rows, interrupt)
            case _ where PostgresErrorClass.isOfTable(error): return isolate(rows, interrupt)
            default: return .retry(TrackerError(error))
            }
        }
    }

    /// Loads all rows or none.
    private func loadWhole(_ rows: DeliveryRows, _ interrupt: Interrupt) throws(PostgresFailure) {
        if !memory.isWary {
            do {
                _ = try withLoader(of: rows, interrupt) { loader throws(PostgresFailure) in
                    try loader.loadDirectly()
                }
                return
            } catch  where PostgresErrorClass(error) == .duplicate {
                memory.noteDuplicates()
            }
        }
        note(
            try withLoader(of: rows, interrupt) { loader throws(PostgresFailure) in
                try loader.loadThroughStaging()
            }
        )
    }

    /// Loads all rows except those that the server rejects and those of tables that accept none.
    private func isolate(_ rows: DeliveryRows, _ interrupt: Interrupt) -> DeliveryOutcome {
        let deadline = ContinuousClock.now + min(Self.isolationTime, configuration.deliveryTimeout / 2)
        // The waits for locked tables together must leave time for the other tables.
        let lockTimeout = min(lockTimeout, configuration.deliveryTimeout / (2 * max(1, rows.groups.count)))
        do {
            let report = try withLoader(of: rows, interrupt) { loader throws(PostgresFailure) in
                try loader.loadIsolating(until: deadline, lockTimeout: lockTimeout)
            }
            note(report)
            return outcome(report)
        } catch {
            return .retry(TrackerError(error))
        }
    }

    private func withLoader(
        of rows: DeliveryRows,
        _ interrupt: Interrupt,
        _ body: (DeliveryLoader) throws(PostgresFailure) -> LoadReport
    ) throws(PostgresFailure) -> LoadReport {
        let checkpointing = rows.journal.map { journal in
            DeliveryLoader.Checkpointing(
                lockAndRead: checkpoints.lockAndRead(for: journal),
                expected: checkpointMemory.known(of: journal) ?? nil,
                store: rows.checkpoint.map(checkpoints.store)
            )
        }
        if let checkpoint = rows.checkpoint { checkpointMemory.sends(checkpoint) }
        do throws(PostgresFailure) {
            let report = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                try body(
                    DeliveryLoader(
                        connection: connection,
                        schema: configuration.schema,
                        rows: rows,
                        checkpointing: checkpointing,
                        sender: sender,
                        limit: limit
                    )
                )
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

    private func note(_ report: LoadReport) {
        if report.duplicates > 0 { memory.noteDuplicates() } else { memory.noteClean() }
    }

    private func outcome(_ report: LoadReport) -> DeliveryOutcome {
        var reasons = report.refused
        for (position, defect) in sender.defects { reasons[position] = defect.reason }
        let left = (report.unsettled + report.broken.flatMap(\.positions)).filter { reasons[$0] == nil }.sorted()
        let reason = report.broken.first?.reason ?? .isolationUnfinished
        return DeliveryOutcome(
            refusals: reasons.sorted { $0.key < $1.key }.map { .init(position: $0.key, reason: $0.value) },
            retry: left.isEmpty ? nil : DeliveryOutcome.Retry(positions: left, reason: reason)
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
