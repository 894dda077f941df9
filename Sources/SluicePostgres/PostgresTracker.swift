public import EventModel
public import EventValidation
public import Logging
public import TrackerKit

/// Loads events into PostgreSQL: a table for each event, a typed column for each property.
///
/// All rows of a delivery go in by one transaction of binary COPY. An id that is there already is left alone, so that a
/// repetition is harmless. A row that the server refuses is found and refused; the others go in. The tables are made by
/// `PostgresMigrator`, which is what `sluice migrate` runs; `start` says what is missing.
///
/// With a journal the same transaction stores how far the tracker has got in it, so that each row is sent once, also when
/// the process is killed; only the rows of a delivery of which some were refused may come again.
///
/// **One broken table** (missing, changed, locked, or without a privilege for the role) does not keep the rows of the
/// others out: they are committed, and the events of that table have to be tried again, with its name in the reason.
///
/// **Privileges.** The role needs USAGE on the schema, TEMPORARY on the database, INSERT and SELECT (`id`) on the events'
/// tables, and with a journal SELECT, INSERT and UPDATE on `_sluice_checkpoints`.
///
/// **Sessions.** A process that stores checkpoints ends the session that its predecessor left behind, and one that finds
/// a checkpoint it does not know of stores nothing more until it is asked again. Behind a pooler that keeps one session
/// for a connection (PgBouncer: `pool_mode = session`) no session is ended; one that does not is turned down by `start`.
public final class PostgresTracker: CheckpointingTracker, CheckableTracker {
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

    /// Parses the connection string.
    ///
    /// - Throws: `invalidSettings` where libpq cannot read it, or one of its values is out of range. The sentence never
    ///   repeats the string, which can hold a password.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        do throws(PostgresFailure) {
            _ = try ConnectionSettings(configuration.connection)
        } catch {
            throw TrackerError(error)
        }
    }

    /// Connects, and checks that the tables and columns are there that the catalog's events need, and that the role has the
    /// privileges for them.
    ///
    /// A single table that accepts no rows is logged, and its events are tried again with each delivery.
    ///
    /// With `requiresEveryTable` it is an error.
    ///
    /// - Throws: `notPrepared` where every table lacks something, naming `sluice migrate`; `misconfigured` where the server
    ///   does not let the role in, where the role lacks a privilege that every table needs, and behind a pooler that does
    ///   not keep sessions; `unavailable` or `timeout`, both retryable, where the server cannot be reached, or the system
    ///   refuses a thread.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(ofInspectingFor: catalog, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        let inspection = try result.get()
        if let reason = inspection.reasonAgainstAll { throw reason }
        if configuration.requiresEveryTable, let reason = inspection.reasonAgainstSome { throw reason }
        for problem in inspection.brokenTables {
            logger.warning(
                "A table accepts no rows; its events have to wait, and the others are delivered.",
                metadata: ["tracker": "\(name)", "error": "\(problem)"]
            )
        }
        logger.debug("PostgreSQL takes the plan's events", metadata: ["schema": "\(configuration.schema)"])
    }

    /// Compares the database with what the catalog's events need; reads only.
    public func problems(for catalog: EventCatalog, usesJournal: Bool) async -> [TrackerError] {
        let session: PostgresSession
        do throws(TrackerError) { session = try self.session.get() } catch { return [error] }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.problems(for: catalog, usesJournal: usesJournal, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// How far it has got in a journal, as the database has it.
    ///
    /// Ends the session that an earlier process left, and waits until nothing of it is under way.
    ///
    /// - Throws: `notPrepared` where the table for it, or a column of that, is missing, naming `sluice migrate`;
    ///   `misconfigured` where the role lacks a privilege on it; else as `start`.
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
    /// `inspect` as a value, because the cancellation handler does not pass typed errors on.
    fileprivate func result(
        ofInspectingFor catalog: EventCatalog,
        _ interrupt: Interrupt
    ) -> Result<SchemaInspection, TrackerError> {
        Result { () throws(TrackerError) in
            do throws(PostgresFailure) {
                return try inspect(for: catalog, interrupt)
            } catch {
                throw TrackerError(error)
            }
        }
    }

    fileprivate func result(
        ofAsking journal: JournalID,
        _ interrupt: Interrupt
    ) -> Result<UInt64?, TrackerError> {
        Result { () throws(TrackerError) in try checkpoint(ofJournal: journal, interrupt) }
    }
}
