import EventModel
import EventValidation
import Logging
import TrackerKit

/// A connection, and the thread that its blocking calls run on.
///
/// The connection is opened when it is first needed, and closed after any failure that leaves its state uncertain.
actor PostgresSession {
    let configuration: PostgresConfiguration
    var memory = DuplicateMemory()
    var refusalLog = RefusalLog()
    var targets: LoadTargets
    let sender = RowSender()
    /// When the halves of the recent ids are looked at again.
    var nextExchangeCheck: ContinuousClock.Instant?
    nonisolated let known: KnownTables
    nonisolated let logger: Logger
    nonisolated let checkpoints: CheckpointTable
    nonisolated let offsets: OffsetTable
    nonisolated let refusedTable: RefusedTable
    /// The checkpoints that this session knows to be stored.
    var checkpointMemory = CheckpointMemory()
    /// The journals for which the database records the current connection as the latest.
    var claimedJournals: Set<JournalID> = []
    /// The partitions for which the database records the current connection as the owner's.
    var claimedPartitions: Set<LoadedPartition> = []

    private nonisolated let thread: BlockingThread
    private var connection: PostgresConnection?

    /// The role of the latest connection.
    private(set) var role = ""
    /// Whether a connection is open.
    var isConnected: Bool { connection != nil }
    /// How long a statement waits for a lock on its table, so that the delivery's other tables have time left.
    nonisolated var lockTimeout: Duration { min(configuration.lockTimeout, configuration.deliveryTimeout / 4) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Starts the thread.
    ///
    /// - Throws: `unavailable` if the system refuses a thread.
    init(
        _ configuration: PostgresConfiguration,
        known: KnownTables? = nil,
        logger: Logger
    ) throws(TrackerError) {
        thread = try BlockingThread()
        self.logger = logger
        self.configuration = configuration
        self.known = known ?? KnownTables(ofTracker: configuration.name)
        targets = LoadTargets(schema: configuration.schema)
        checkpoints = CheckpointTable(configuration)
        offsets = OffsetTable(configuration)
        refusedTable = RefusedTable(configuration)
    }

    /// Runs `body` with a connection; after a failure, the connection is either reset for the next call or closed.
    ///
    /// If it `isLoading`, the connection is kept as long as the server answers, because the next attempt finds out why it failed.
    func withConnection<Value: Sendable>(
        _ interrupt: Interrupt,
        timeout: Duration,
        isLoading: Bool = false,
        _ body: (PostgresConnection, WaitLimit) throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        let limit = WaitLimit(interrupt: interrupt, timeout: timeout)
        try limit.check()
        let connection = try readyConnection(interrupt)
        do throws(PostgresFailure) {
            return try body(connection, limit)
        } catch {
            recover(connection, from: error, isLoading: isLoading, limit)
            throw error
        }
    }

    func tables(of catalog: EventCatalog) -> [EventTable] {
        EventTable.tables(of: catalog.plan, tracker: configuration.name, schema: configuration.schema)
    }

    /// Compares the database with what the catalog's events need.
    func inspect(for catalog: EventCatalog, _ interrupt: Interrupt) throws(PostgresFailure) -> SchemaInspection {
        let wanted = tables(of: catalog)
        return try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            let present = try connection.presentSchema(named: configuration.schema, limit)
            known.note(present)
            let conditions = try connection.storageConditions(ofSchema: configuration.schema, limit)
            return SchemaInspection(of: present, for: wanted, under: conditions)
        }
    }

    /// Every problem that prevents rows, checkpoints or offsets from being stored, or soon will; changes nothing.
    func problems(in pipeline: PipelineOutline, _ interrupt: Interrupt) -> [TrackerError] {
        do throws(PostgresFailure) {
            let inspection = try inspect(for: pipeline.catalog, interrupt)
            let tables = self.tables(of: pipeline.catalog)
            var problems = inspection.problems
            problems += tables.compactMap { table in
                let end = known.coverage(of: table)?.end(from: .now())
                return end.flatMap { .partitionsEnd(of: table, at: $0, now: .now()) }
            }
            problems += tables.compactMap { known.coverage(of: $0)?.gap(in: $0, now: .now()) }
            // Without the right to use the schema, these would only say so again.
            if inspection.obstacles.isEmpty { problems += try partitionedTableProblems(of: tables, interrupt) }
            problems += try recentIDProblems(for: tables, interrupt)
            guard pipeline.hasJournal || pipeline.loadsPartitions else { return problems }
            let (present, conditions) = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                (
                    try connection.presentSchema(named: configuration.schema, limit),
                    try connection.storageConditions(ofSchema: configuration.schema, limit)
                )
            }
            problems += ownTables(of: pipeline).compactMap { name in
                let sqlName = SQLText.identifier(configuration.schema) + "." + SQLText.identifier(name)
                let role = SQLText.identifier(present.role ?? "")
                return conditions.loss(of: name, sqlName: sqlName)
                    ?? conditions.reason(against: name, sqlName: sqlName, role: role)
            }
            if pipeline.hasJournal, let reason = SchemaInspection.reason(against: checkpoints, in: present) {
                problems.append(reason)
            }
            if pipeline.loadsPartitions { problems += try partitionProblems(in: present, interrupt) }
            return problems
        } catch {
            return [TrackerError(error)]
        }
    }

    /// What is wrong with the partitions of tables, and with conversions of tables that did not end.
    private func partitionedTableProblems(
        of tables: [EventTable],
        _ interrupt: Interrupt
    ) throws(PostgresFailure) -> [TrackerError] {
        try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            let schema = configuration.schema
            let partitioned = try PartitionedTable.read(tables.map(\.name), inSchema: schema, over: connection, limit)
            return tables.flatMap { partitioned[$0.name]?.problems ?? [] }
                + (try TableConversion.unfinished(among: tables, over: connection, limit))
        }
    }

    /// The names of the tables in which a pipeline stores its positions and refused records.
    private func ownTables(of pipeline: PipelineOutline) -> [String] {
        (pipeline.hasJournal ? [CheckpointTable.name] : [])
            + (pipeline.loadsPartitions ? LoaderTable.all.map(\.name) : [])
    }

    /// Closes the connection; a later call opens another.
    func close() {
        connection = nil
    }

    private func readyConnection(_ interrupt: Interrupt) throws(PostgresFailure) -> PostgresConnection {
        if let connection { return connection }
        let made = try connect(interrupt)
        connection = made
        claimedJournals = []
        claimedPartitions = []
        return made
    }

    private func connect(_ interrupt: Interrupt) throws(PostgresFailure) -> PostgresConnection {
        let settings = try ConnectionSettings(configuration.withCurrentSecrets())
        let connection = try PostgresConnection(settings, interrupt: interrupt)
        let limit = WaitLimit(interrupt: interrupt, timeout: settings.connectTimeout)
        role = connection.role
        try connection.findPooler(settings, limit)
        try connection.execute(
            """
            SET standard_conforming_strings = on; SET quote_all_identifiers = off;
            SET datestyle = 'ISO, YMD'; SET timezone = 'UTC';
            SET client_min_messages = warning; SET default_transaction_read_only = off;
            SET statement_timeout = \(configuration.deliveryTimeout.milliseconds);
            SET lock_timeout = \(lockTimeout.milliseconds);
            SET idle_in_transaction_session_timeout = '60s'; \(ConnectionSettings.serverKeepalives)
            """,
            limit
        )
        return connection
    }

    private func recover(
        _ connection: PostgresConnection,
        from failure: PostgresFailure,
        isLoading: Bool,
        _ limit: WaitLimit
    ) {
        switch PostgresErrorClass(failure) {
        case _ where isLoading && failure.source == .server: rollBack(connection, limit)
        case .refused, .duplicate, .superseded, .locked: rollBack(connection, limit)
        case .cancelled, .timeout:
            // The server may still be waiting for a lock.
            connection.requestCancel()
            self.connection = nil
        // The server may have become a standby, or the role may have changed.
        case .unavailable, .notPrepared, .misconfigured, .invalidSettings:
            self.connection = nil
        }
    }

    private func rollBack(_ connection: PostgresConnection, _ limit: WaitLimit) {
        guard !connection.isIdle else { return }
        do {
            try connection.execute("ROLLBACK", limit)
        } catch {
            self.connection = nil
        }
    }
}

extension Duration {
    /// The duration as a server setting, whose maximum is 24 days, and in which 0 would mean no limit.
    var milliseconds: Int32 { Int32(min(max(1, self / .milliseconds(1)), Double(Int32.max))) }
}

extension PostgresConnection {
    /// Reads the tables, columns and privileges of a schema.
    func presentSchema(named name: String, _ limit: WaitLimit) throws(PostgresFailure) -> PresentSchema {
        var present = PresentSchema(name: name, rows: try rows(of: PresentSchema.query, parameters: [name], limit))
        for (table, coverage) in try PartitionCoverage.read(inSchema: name, over: self, limit) {
            present.tables[table]?.coverage = coverage
        }
        return present
    }

    /// Reads the conditions that a schema's tables are under.
    func storageConditions(ofSchema name: String, _ limit: WaitLimit) throws(PostgresFailure) -> StorageConditions {
        StorageConditions(rows: try rows(of: StorageConditions.query, parameters: [name], limit))
    }
}
