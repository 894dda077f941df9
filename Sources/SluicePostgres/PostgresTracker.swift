public import EventModel
public import EventValidation
public import Logging
public import TrackerKit

/// Loads events into PostgreSQL: a table for each event, a typed column for each property.
///
/// All rows of a delivery go in by one transaction of binary COPY. An id that is already in the table is skipped, so a
/// retry is harmless. A row that the server rejects is found and refused, or retried if its error may pass; the others are loaded.
/// `PostgresMigrator`, which `sluice migrate` runs, creates the tables; `start` reports what is missing.
///
/// With a journal, the same transaction stores the tracker's checkpoint, so that each row is sent once even if the
/// process is killed; only the rows of a delivery with refused events may be sent again.
///
/// **One broken table** (missing, changed, locked, full, or without a privilege for the role) does not affect the other
/// tables: their rows are committed, and the events of that table are stuck (`DeliveryOutcome.Stuck`), with its name in the reason.
///
/// **Privileges.** The role needs USAGE on the schema, TEMPORARY on the database, USAGE on the language `plpgsql` (which PUBLIC has), INSERT and SELECT (`id`) on the
/// events' tables (if a primary key has other columns, SELECT on these too), and with a journal SELECT, INSERT and UPDATE on
/// `_sluice_checkpoints`. `sluice load` needs SELECT, INSERT and UPDATE on `_sluice_loader_offsets`, SELECT, INSERT, UPDATE and
/// DELETE on `_sluice_refused`, and INSERT on `_sluice_accepted_losses`. `sluice check` reads `_sluice_forgotten`, and `sluice forget`
/// runs as the owner of the tables. All loaders of a topic should have the same role; otherwise
/// each role also needs `pg_signal_backend` and `pg_read_all_stats`, to terminate the session of a loader that hangs. That needs
/// PostgreSQL 14 or later.
///
/// **Sessions.** Events are delivered over one connection; `sluice load` uses two. A process that stores checkpoints terminates the
/// session that its predecessor left behind. A process that finds an unknown checkpoint stores nothing more until its checkpoint is
/// requested again. Behind a pooler in session mode (PgBouncer: `pool_mode = session`) no session is terminated; `start` rejects a
/// pooler in any other mode.
public final class PostgresTracker: CheckpointingTracker, CheckableTracker {
    let configuration: PostgresConfiguration
    let sessions: PostgresSessions
    private let logger: Logger

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker; it connects when it starts.
    public init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        sessions = PostgresSessions(configuration, logger: logger)
    }

    /// Parses the connection string.
    ///
    /// - Throws: `invalidSettings` if libpq cannot parse it, or if one of its values is out of range. The message never
    ///   contains the string, which can include a password.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        do throws(PostgresFailure) {
            _ = try ConnectionSettings(configuration)
        } catch {
            throw TrackerError(error)
        }
    }

    /// Connects, and checks the tables, columns and privileges that the catalog's events need.
    ///
    /// A single table that accepts no rows is logged, and its events are retried with each delivery; with
    /// `requiresEveryTable` it is an error. A table without a primary key accepts rows, and is logged because it keeps duplicates; so is
    /// an UNLOGGED one, because a crash of the server empties it.
    ///
    /// - Throws: `notPrepared`, with the hint to run `sluice migrate`, if no table is complete; `misconfigured` if the
    ///   server rejects the login or is a standby, if the role lacks a privilege that every table needs, or if a pooler does not
    ///   keep sessions; `unavailable` or `timeout`, both retryable, if the server cannot be reached or the system refuses a
    ///   thread.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        let session = try sessions.first.get()
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
                "A table accepts no rows; its events will be retried, and all others are delivered.",
                metadata: ["tracker": "\(name)", "error": "\(problem)"]
            )
        }
        for table in inspection.tablesWithoutKey {
            logger.warning(
                "A table has no primary key on id, so duplicates are not recognized; add the key.",
                metadata: ["tracker": "\(name)", "table": "\(table)"]
            )
        }
        if await session.lacksRecentIDs(for: catalog) {
            logger.warning(
                "Recent ids cannot be remembered, so an event whose time is not the sender's has two rows if it is sent twice; run sluice check.",
                metadata: ["tracker": "\(name)"]
            )
        }
        for problem in inspection.tablesEmptiedByCrash {
            logger.warning(
                "A table accepts rows and loses them if PostgreSQL crashes.",
                metadata: ["tracker": "\(name)", "error": "\(problem)"]
            )
        }
        logger.debug("PostgreSQL takes the plan's events", metadata: ["schema": "\(configuration.schema)"])
    }

    /// Compares the database with what the catalog's events need, without changing anything.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        let session: PostgresSession
        do throws(TrackerError) { session = try sessions.first.get() } catch { return [error] }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.problems(in: pipeline, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Returns the checkpoint for a journal that is stored in the database.
    ///
    /// Terminates the session that an earlier process left behind, and waits for its last transaction to end.
    ///
    /// - Throws: `notPrepared`, with the hint to run `sluice migrate`, if the checkpoint table or one of its columns is
    ///   missing; `misconfigured` if the role lacks a privilege on it; otherwise what `start` throws.
    public func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64? {
        let session = try sessions.first.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(ofAsking: journal, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        return try result.get()
    }

    /// Loads the events in one transaction and skips duplicates.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: PostgresSession
        do throws(TrackerError) { session = try sessions.first.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.load(delivery, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Closes the connections.
    public func stop() async {
        await sessions.close()
    }
}

extension Tracker where Self == PostgresTracker {
    /// A tracker that loads events into the tables that `sluice migrate` makes.
    ///
    /// - Parameters:
    ///   - connection: A libpq URI (`postgres://…`) or keywords (`host=… dbname=…`).
    ///   - name: The name that refers to the tracker in the plan. Default: `postgres`.
    ///   - schema: The schema of the tables. Default: `analytics`.
    ///   - logger: Logs problems with tables, and rows that were refused.
    /// - Returns: A tracker to give to a pipeline; it connects when the pipeline starts it.
    public static func postgres(
        _ connection: String,
        name: String = PostgresConfiguration.defaultName,
        schema: String = PostgresConfiguration.defaultSchema,
        logger: Logger = Logger(label: "sluice")
    ) -> PostgresTracker {
        PostgresTracker(PostgresConfiguration(connection: connection, name: name, schema: schema), logger: logger)
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
