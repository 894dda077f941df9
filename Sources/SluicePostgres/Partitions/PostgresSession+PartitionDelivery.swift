import TrackerKit

extension PostgresSession {
    /// Loads the records of a partition in one transaction, and returns the outcome.
    ///
    /// If the connection is not the one on which the partition was claimed or last renewed, it loads nothing: a transaction of the
    /// earlier connection may still commit, and the database does not know this session.
    func load(_ delivery: PartitionDelivery, _ interrupt: Interrupt) -> PartitionOutcome {
        var rows = DeliveryRows(delivery.events, &targets)
        sender.reset()
        var isInDoubt = false
        do throws(PostgresFailure) {
            try removeRowsWithoutPartition(from: &rows, interrupt)
            let report = try load(&rows, interrupt) { mode, rows throws(PostgresFailure) in
                try attempt(mode, delivery, rows, &isInDoubt, interrupt)
            }
            exchangeRecentIDs(for: rows, interrupt)
            return outcome(report)
        } catch {
            if isInDoubt { return .unknown(TrackerError(error)) }
            return PostgresErrorClass(error) == .superseded ? .superseded : .failed(loaderTableError(error, .loading))
        }
    }

    private func attempt(
        _ mode: DeliveryLoader.Mode,
        _ delivery: PartitionDelivery,
        _ rows: DeliveryRows,
        _ isInDoubt: inout Bool,
        _ interrupt: Interrupt
    ) throws(PostgresFailure) -> LoadReport {
        // Not a failure of the connection, on which other partitions may be claimed.
        guard isConnected, claimedPartitions.contains(delivery.partition) else {
            isInDoubt = true
            throw .notRenewed
        }
        let record = PartitionRecord(delivery: delivery, offsets: offsets, refusedTable: refusedTable)
        return try withConnection(interrupt, timeout: configuration.deliveryTimeout, isLoading: true) {
            connection,
            limit throws(PostgresFailure) in
            connection.hasSentCommit = false
            do throws(PostgresFailure) {
                return try loader(of: rows, record, connection, limit).load(mode)
            } catch {
                isInDoubt = connection.hasSentCommit && !(error.source == .server && connection.isSettled)
                throw error
            }
        }
    }

    private func outcome(_ report: LoadReport) -> PartitionOutcome {
        switch report.abandonment {
        case nil:
            .committed(
                refused: report.keptRefusals,
                broken: Set(report.stuck.map(\.table)),
                stuck: report.keptStuck
            )
        case .unsettled: .tooLarge(.isolationUnfinished)
        case .stuck(let reason, let acceptsOthers):
            .broken(Set(report.stuck.map(\.table)), acceptsOthers: acceptsOthers, reason)
        case .refusedFull: .refusedFull(limit: configuration.maximumRefused)
        }
    }
}

extension PostgresFailure {
    /// The session is not the one on which the partition was claimed or last renewed.
    fileprivate static let notRenewed = PostgresFailure(
        source: .connection,
        message: "the connection is a new one, and the claim of the partition has to be renewed on it"
    )
}
