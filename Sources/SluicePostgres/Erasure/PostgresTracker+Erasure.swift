package import EventModel
package import EventValidation
import Logging
package import TrackerKit

extension PostgresTracker: ErasingTracker {
    /// The timeout of a run, which is long because without an index each table is read as a whole.
    private static let timeout = Duration.seconds(24 * 3600)

    package func devices(of users: Set<ExactText>) async throws(TrackerError) -> [SeenDevice] {
        try await erasing { run throws(PostgresFailure) in try run.devices(of: users) }
    }

    package func identifiers(of tombstones: Tombstones) async throws(TrackerError) -> [FoundIdentifier] {
        try await erasing { run throws(PostgresFailure) in try run.identifiers(of: tombstones) }
    }

    package func count(_ request: ErasureRequest) async throws(TrackerError) -> [ErasedEvents] {
        try await erasing { run throws(PostgresFailure) in try run.count(request) }
    }

    package func store(_ tombstones: [Tombstone], ofReceipt receipt: String) async throws(TrackerError) {
        try await erasing { run throws(PostgresFailure) in try run.store(tombstones, ofReceipt: receipt) }
    }

    package func erase(_ request: ErasureRequest) async throws(TrackerError) -> ErasureCounts {
        try await erasing { run throws(PostgresFailure) in try run.erase(request) }
    }

    package func storedTombstones() async throws(TrackerError) -> [Tombstone] {
        try await erasing { run throws(PostgresFailure) in try run.storedTombstones() }
    }

    /// Runs `work` over a connection of its own, whose settings differ from those of deliveries.
    private func erasing<Value: Sendable>(
        _ work: @Sendable (ErasureRun) throws(PostgresFailure) -> Value
    ) async throws(TrackerError) -> Value {
        let session = try PostgresSession(
            configuration,
            logger: Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() }
        )
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.erase(interrupt, timeout: Self.timeout) { run throws(PostgresFailure) in try work(run) }
        } onCancel: {
            interrupt.raise()
        }
        await session.close()
        return try result.get()
    }
}

extension PostgresSession {
    fileprivate func erase<Value: Sendable>(
        _ interrupt: Interrupt,
        timeout: Duration,
        _ work: @Sendable (ErasureRun) throws(PostgresFailure) -> Value
    ) -> Result<Value, TrackerError> {
        do {
            return .success(
                try withConnection(interrupt, timeout: timeout) { connection, limit throws(PostgresFailure) in
                    try work(ErasureRun(connection, configuration, limit))
                }
            )
        } catch {
            return .failure(TrackerError(error))
        }
    }
}
