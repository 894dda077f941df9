public import EventSchema
public import TrackerKit

/// Brings a database up to the plan: applies migrations, then makes and extends the events' tables.
///
/// Running it again changes nothing; two at once take turns. It never drops anything and never changes a type.
public struct PostgresMigrator: Sendable {
    /// How long a run may take; building an index on a large table takes its time.
    private static let timeout = Duration.seconds(24 * 3600)

    private let configuration: PostgresConfiguration

    /// Takes where the database is, and which of the plan's events go there.
    public init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Applies the migrations that the database has not had, then brings its tables up to the plan.
    ///
    /// Each migration, and each table, is a transaction of its own.
    ///
    /// - Throws: `failed` where a migration was edited or does not run, and where a column has another type than the
    ///   plan wants: then no table is changed. `unavailable` where the system refuses a thread.
    public func migrate(
        _ plan: TrackingPlan,
        applying migrations: [Migration]
    ) async throws(TrackerError) -> MigrationReport {
        try await withRun(for: plan) { run, tables throws(PostgresFailure) in
            try run.bringUp(to: tables, applying: migrations)
        }
    }

    /// Says what `migrate` would run on the database as it is, and runs nothing.
    ///
    /// - Throws: what `migrate` throws, where it would change no table: a migration was edited, or a column has another
    ///   type than the plan wants.
    public func script(
        for plan: TrackingPlan,
        applying migrations: [Migration]
    ) async throws(TrackerError) -> MigrationScript {
        try await withRun(for: plan) { run, tables throws(PostgresFailure) in
            try run.foresee(tables, applying: migrations)
        }
    }

    private func withRun<Value: Sendable>(
        for plan: TrackingPlan,
        _ work: @Sendable (MigrationRun, [EventTable]) throws(PostgresFailure) -> Result<Value, TrackerError>
    ) async throws(TrackerError) -> Value {
        let session = try PostgresSession(configuration)
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
                try work(MigrationRun(connection: connection, schema: configuration.schema, limit: limit))
            }
        } catch {
            return .failure(TrackerError(error))
        }
    }
}

/// What a run of the migrator did.
public struct MigrationReport: Sendable, Hashable {
    /// The names of the migrations it applied.
    public var migrations: [String] = []
    /// The tables it made.
    public var createdTables: [String] = []
    /// The tables it gave more columns or other comments.
    public var extendedTables: [String] = []

    /// Whether there was nothing to do.
    public var isEmpty: Bool { migrations.isEmpty && createdTables.isEmpty && extendedTables.isEmpty }
}
