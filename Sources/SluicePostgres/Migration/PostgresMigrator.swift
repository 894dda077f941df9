public import EventSchema
import Logging
public import TrackerKit

/// Makes a database match the plan: applies migrations, then creates and extends the tables of the events.
///
/// A second run changes nothing, and concurrent runs wait for each other. It never drops anything and never changes a type.
public struct PostgresMigrator: Sendable {
    /// The timeout of a run, which is long because an index on a large table takes time.
    private static let timeout = Duration.seconds(24 * 3600)

    private let configuration: PostgresConfiguration

    /// Creates a migrator for a database and the events that the plan sends to the tracker.
    public init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Applies the pending migrations, then makes the tables match the plan.
    ///
    /// Each migration, and each table, is a transaction of its own.
    ///
    /// - Parameters:
    ///   - plan: The plan; each event that goes to the tracker gets a table.
    ///   - migrations: The migrations, in their order.
    ///   - role: The role that gets the privileges that `PostgresTracker` lists, on the existing tables and, as default privileges
    ///     of the connection's role, on those that it creates later; `nil` to grant nothing. Granting twice changes nothing.
    /// - Returns: The changes that were made.
    /// - Throws: `failed` if a migration was edited or fails, or if a column has another type than the plan requires; in the
    ///   last case no table is changed. Also if the role does not exist. `unavailable` if the system refuses a thread.
    public func migrate(
        _ plan: TrackingPlan,
        applying migrations: [Migration],
        grantingTo role: String? = nil
    ) async throws(TrackerError) -> MigrationReport {
        try await withRun(for: plan) { run, tables throws(PostgresFailure) in
            try run.bringUp(to: tables, applying: migrations, grantingTo: role)
        }
    }

    /// Returns the statements that `migrate` would run on the database in its current state, and runs none of them.
    ///
    /// - Throws: What `migrate` throws before it changes a table: a migration was edited, or a column has another type than the
    ///   plan requires.
    public func script(
        for plan: TrackingPlan,
        applying migrations: [Migration],
        grantingTo role: String? = nil
    ) async throws(TrackerError) -> MigrationScript {
        try await withRun(for: plan) { run, tables throws(PostgresFailure) in
            try run.foresee(tables, applying: migrations, grantingTo: role)
        }
    }

    private func withRun<Value: Sendable>(
        for plan: TrackingPlan,
        _ work: @Sendable (MigrationRun, [EventTable]) throws(PostgresFailure) -> Result<Value, TrackerError>
    ) async throws(TrackerError) -> Value {
        let session = try PostgresSession(
            configuration,
            logger: Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() }
        )
        let interrupt = Interrupt()
        let tables = EventTable.tables(of: plan, tracker: configuration.name, schema: configuration.schema)
        let result = await withTaskCancellationHandler {
            await session.run(interrupt, timeout: Self.timeout) { run throws(PostgresFailure) in try work(run, tables) }
        } onCancel: {
            interrupt.raise()
        }
        await session.close()
        return try result.get()
    }
}

extension PostgresSession {
    fileprivate func run<Value: Sendable>(
        _ interrupt: Interrupt,
        timeout: Duration,
        _ work: @Sendable (MigrationRun) throws(PostgresFailure) -> Result<Value, TrackerError>
    ) -> Result<Value, TrackerError> {
        do {
            return try withConnection(interrupt, timeout: timeout) { connection, limit throws(PostgresFailure) in
                let run = MigrationRun(
                    connection: connection,
                    schema: configuration.schema,
                    partitions: TimePartition.ofNewTable(by: configuration.partitions),
                    limit: limit
                )
                return try work(run)
            }
        } catch {
            return .failure(TrackerError(error))
        }
    }
}

/// The changes that a run of the migrator made.
public struct MigrationReport: Sendable, Hashable {
    /// The names of the migrations that were applied.
    public var migrations: [String] = []
    /// The tables that were created.
    public var createdTables: [String] = []
    /// The tables that got more columns or other comments.
    public var extendedTables: [String] = []
    /// The role that was granted what it needs; `nil` for none.
    public var grantedRole: String?

    /// Whether nothing was changed.
    public var isEmpty: Bool {
        migrations.isEmpty && createdTables.isEmpty && extendedTables.isEmpty && grantedRole == nil
    }
}
