package import TrackerKit

extension PostgresTracker: PartitionTracker {
    // One batch may take three attempts: directly, through staging tables, and row by row.
    package var longestLoad: Duration { configuration.deliveryTimeout * 4 }

    package func lane(ofPartition number: Int32) -> Int { sessions.lane(ofPartition: number) }

    package func claim(
        _ partition: LoadedPartition,
        start: Int64,
        owner: String
    ) async throws(TrackerError) -> PartitionClaim {
        try await run(in: sessions[of: partition]) { session, interrupt throws(TrackerError) in
            try session.claim(partition, start: start, owner: owner, interrupt)
        }
    }

    package func renew(
        _ partition: LoadedPartition,
        epoch: Int64
    ) async throws(TrackerError) -> PartitionClaim? {
        try await run(in: sessions[of: partition]) { session, interrupt throws(TrackerError) in
            try session.renew(partition, epoch: epoch, interrupt)
        }
    }

    package func load(_ delivery: PartitionDelivery) async -> PartitionOutcome {
        do throws(TrackerError) {
            return try await run(in: sessions[of: delivery.partition]) { session, interrupt in
                session.load(delivery, interrupt)
            }
        } catch {
            return .failed(error)
        }
    }

    package func acceptLoss(
        _ loss: AcceptedLoss,
        of partition: LoadedPartition,
        epoch: Int64
    ) async throws(TrackerError) -> Bool {
        try await run(in: sessions[of: partition]) { session, interrupt throws(TrackerError) in
            try session.accept(loss, of: partition, epoch: epoch, interrupt)
        }
    }

    package func loadedPartitions(ofLoader loader: String) async throws(TrackerError) -> [LoadedPartitionStatus] {
        try await run(in: sessions.first) { session, interrupt throws(TrackerError) in
            try session.partitions(ofLoader: loader, interrupt)
        }
    }

    package func refusedRecords(
        ofLoader loader: String?,
        after key: RefusedRecordKey?,
        limit: Int
    ) async throws(TrackerError) -> [StoredRefusal] {
        try await run(in: sessions.first) { session, interrupt throws(TrackerError) in
            try session.refusals(ofLoader: loader, after: key, limit: limit, interrupt)
        }
    }

    package func refusedRecordOrigins(ofLoader loader: String?) async throws(TrackerError) -> [RefusedRecordOrigin] {
        try await run(in: sessions.first) { session, interrupt throws(TrackerError) in
            try session.refusalOrigins(ofLoader: loader, interrupt)
        }
    }

    package func removeRefused(_ keys: [RefusedRecordKey]) async throws(TrackerError) -> Int {
        try await run(in: sessions.first) { session, interrupt throws(TrackerError) in
            try session.removeRefusals(keys, interrupt)
        }
    }

    /// Runs work on a session's thread; cancellation interrupts it.
    private func run<Value: Sendable>(
        in session: SessionOnDemand<PostgresSession>,
        _ work: @Sendable (isolated PostgresSession, Interrupt) throws(TrackerError) -> Value
    ) async throws(TrackerError) -> Value {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(of: work, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        return try result.get()
    }
}

extension PostgresSession {
    /// The result of work as a value, because the cancellation handler does not pass typed errors on.
    fileprivate func result<Value: Sendable>(
        of work: @Sendable (isolated PostgresSession, Interrupt) throws(TrackerError) -> Value,
        _ interrupt: Interrupt
    ) -> Result<Value, TrackerError> {
        Result { () throws(TrackerError) in try work(self, interrupt) }
    }
}
