public import EventPipeline
public import Journal
public import Logging

/// Loads events into PostgreSQL: a table for each event, a typed column for each property.
///
/// All rows of a delivery go in by one transaction of binary COPY. An id that is there already is left alone, so that a
/// repetition is harmless. A row that the server refuses is found and refused; the others go in. The tables are made by
/// `PostgresMigrator`, which is what `sluice migrate` runs; `start` says what is missing.
///
/// With a journal the same transaction stores how far the tracker has got in it, so that each row is sent once, also when
/// the process is killed; only the rows of a delivery of which some were refused may come again.
public final class PostgresTracker: CheckpointingTracker {
    private let configuration: PostgresConfiguration
    private let session: SessionOnDemand<PostgresSession>
    private let logger: Logger

    /// The name by which the plan's events name it: that of the configuration.
    public var name: String { configuration.name }

    /// Makes a tracker; it connects when it starts.
    public init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        session = SessionOnDemand { () throws(TrackerError) in try PostgresSession(configuration) }
    }

    /// Connects, and looks whether every table and column is there that the catalog's events need.
    ///
    /// - Throws: `notPrepared` where something is missing, naming `sluice migrate`; `misconfigured` where the server does
    ///   not let us in; `unavailable` or `timeout`, both retryable, where it is not to be had, or no thread
    ///   is.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(ofChecking: catalog, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        try result.get()
        logger.debug("PostgreSQL has every table of the plan", metadata: ["schema": "\(configuration.schema)"])
    }

    /// How far it has got in a journal, as the database has it; waits until nothing of an earlier process is under way.
    ///
    /// - Throws: `notPrepared` where the table for it is missing, naming `sluice migrate`; else as `start`.
    public func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64? {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(ofAsking: journal, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        return try result.get()
    }

    /// Loads the events in one transaction, duplicates left out.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: PostgresSession
        do throws(TrackerError) { session = try self.session.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.load(delivery, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Closes the connection.
    public func stop() async {
        await session.ifMade?.close()
    }
}

extension PostgresSession {
    /// `check` as a value, because the cancellation handler does not pass typed errors on.
    fileprivate func result(ofChecking catalog: EventCatalog, _ interrupt: Interrupt) -> Result<Void, TrackerError> {
        Result { () throws(TrackerError) in try check(catalog, interrupt) }
    }

    fileprivate func result(
        ofAsking journal: JournalID,
        _ interrupt: Interrupt
    ) -> Result<UInt64?, TrackerError> {
        Result { () throws(TrackerError) in try checkpoint(ofJournal: journal, interrupt) }
    }
}
