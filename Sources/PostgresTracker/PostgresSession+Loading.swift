import EventPipeline

extension PostgresSession {
    /// How long the search for refused rows may take before what is loaded is kept and the rest comes again.
    private static let isolationTime = Duration.seconds(5)

    /// Loads a delivery and says what became of it.
    func load(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        if delivery.count == 0 { return .delivered }
        do throws(PostgresFailure) {
            if try isLoaded(delivery, interrupt) {
                isInDoubt = false
                return .delivered
            }
        } catch {
            return .retry(TrackerError(error))
        }
        let rows = DeliveryRows(delivery, &targets)
        sender.reset()
        do {
            try loadWhole(rows, interrupt)
            return outcome(DeliveryLoader.Isolation())
        } catch {
            switch PostgresErrorClass(error) {
            case .refused, .duplicate: return isolate(rows, interrupt)
            default: return .retry(TrackerError(error))
            }
        }
    }

    /// Loads all rows or none.
    private func loadWhole(_ rows: DeliveryRows, _ interrupt: Interrupt) throws(PostgresFailure) {
        if !memory.isWary {
            do {
                try withLoader(of: rows, interrupt) { loader throws(PostgresFailure) in try loader.loadDirectly() }
                return
            } catch  where PostgresErrorClass(error) == .duplicate {
                memory.noteDuplicates()
            }
        }
        let duplicates = try withLoader(of: rows, interrupt) { loader throws(PostgresFailure) in
            try loader.loadThroughStaging()
        }
        note(duplicates: duplicates)
    }

    /// Loads all rows but those that the server refuses.
    private func isolate(_ rows: DeliveryRows, _ interrupt: Interrupt) -> DeliveryOutcome {
        do {
            // A table that somebody changed refuses every row; that is no fault of the events.
            let gap = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                SchemaGap(
                    in: try connection.presentSchema(named: configuration.schema, limit),
                    for: rows.groups.map(\.target.table)
                )
            }
            if let gap { return .retry(TrackerError(gap)) }
            let deadline = ContinuousClock.now + min(Self.isolationTime, configuration.deliveryTimeout / 2)
            let isolation = try withLoader(of: rows, interrupt) { loader throws(PostgresFailure) in
                try loader.loadIsolating(until: deadline)
            }
            note(duplicates: isolation.duplicates)
            return outcome(isolation)
        } catch {
            return .retry(TrackerError(error))
        }
    }

    private func withLoader<Value: Sendable>(
        of rows: DeliveryRows,
        _ interrupt: Interrupt,
        _ body: (DeliveryLoader) throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        let checkpoint = rows.checkpoint.map(checkpoints.statements)
        do throws(PostgresFailure) {
            let value = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                try body(
                    DeliveryLoader(
                        connection: connection,
                        rows: rows,
                        checkpoint: checkpoint,
                        sender: sender,
                        limit: limit
                    )
                )
            }
            isInDoubt = false
            return value
        } catch {
            switch PostgresErrorClass(error) {
            case .refused, .duplicate: isInDoubt = false
            default: isInDoubt = checkpoint != nil
            }
            throw error
        }
    }

    private func note(duplicates: Int) {
        if duplicates > 0 { memory.noteDuplicates() } else { memory.noteClean() }
    }

    private func outcome(_ isolation: DeliveryLoader.Isolation) -> DeliveryOutcome {
        var reasons = isolation.refused
        for (position, defect) in sender.defects { reasons[position] = defect.reason }
        let unsettled = isolation.unsettled.filter { reasons[$0] == nil }
        let retry =
            unsettled.isEmpty ? nil : DeliveryOutcome.Retry(positions: unsettled, reason: .isolationUnfinished)
        return DeliveryOutcome(
            refusals: reasons.sorted { $0.key < $1.key }.map { .init(position: $0.key, reason: $0.value) },
            retry: retry
        )
    }
}

extension TrackerError {
    /// Many rows were refused, and finding them takes another delivery.
    static let isolationUnfinished = TrackerError(
        code: .timeout,
        message: "PostgreSQL refuses many rows, and there was not the time to find them all.",
        isRetryable: true
    )
}
