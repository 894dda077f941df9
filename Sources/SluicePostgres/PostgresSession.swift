import EventModel
import EventValidation
import TrackerKit

/// One session with the server, on a thread of its own: whatever blocks, blocks there.
///
/// The connection is made when it is needed, and let go after any failure that leaves its state in doubt.
actor PostgresSession {
    let configuration: PostgresConfiguration
    var memory = DuplicateMemory()
    var targets: LoadTargets
    let sender = RowSender()
    nonisolated let checkpoints: CheckpointTable
    /// What this session knows to be stored for each journal.
    var checkpointMemory = CheckpointMemory()
    /// The journals for which the present connection is the recorded one.
    var claimedJournals: Set<JournalID> = []

    private nonisolated let thread: BlockingThread
    private var connection: PostgresConnection?

    /// The role of the latest connection, as the server knows it.
    private(set) var role = ""
    /// Whether the last call left a connection whose state is known.
    var isConnected: Bool { connection != nil }
    /// How long a statement waits for a lock on its table: others of the same delivery must have time left.
    nonisolated var lockTimeout: Duration { configuration.deliveryTimeout / 4 }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` where there is no thread to be had.
    init(_ configuration: PostgresConfiguration) throws(TrackerError) {
        thread = try BlockingThread()
        self.configuration = configuration
        targets = LoadTargets(schema: configuration.schema)
        checkpoints = CheckpointTable(configuration)
    }

    /// Runs `body` with a connection; after a failure the connection is made fit for the next call, or let go.
    func withConnection<Value: Sendable>(
        _ interrupt: Interrupt,
        timeout: Duration,
        _ body: (PostgresConnection, WaitLimit) throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        let limit = WaitLimit(interrupt: interrupt, timeout: timeout)
        try limit.check()
        let connection = try readyConnection(interrupt)
        do throws(PostgresFailure) {
            return try body(connection, limit)
        } catch {
            recover(connection, from: error, limit)
            throw error
        }
    }

    /// Compares the database with what the catalog's events need.
    func inspect(for catalog: EventCatalog, _ interrupt: Interrupt) throws(PostgresFailure) -> SchemaInspection {
        let wanted = EventTable.tables(of: catalog.plan, tracker: configuration.name, schema: configuration.schema)
        return try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            let present = try connection.presentSchema(named: configuration.schema, limit)
            return SchemaInspection(of: present, for: wanted)
        }
    }

    /// Everything that keeps rows out, or checkpoints; changes nothing.
    func problems(for catalog: EventCatalog, usesJournal: Bool, _ interrupt: Interrupt) -> [TrackerError] {
        do throws(PostgresFailure) {
            let inspection = try inspect(for: catalog, interrupt)
            var problems = inspection.obstacles + inspection.brokenTables
            guard usesJournal else { return problems }
            let present = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                try connection.presentSchema(named: configuration.schema, limit)
            }
            if let reason = SchemaInspection.reason(against: checkpoints, in: present) { problems.append(reason) }
            return problems
        } catch {
            return [TrackerError(error)]
        }
    }

    /// Ends the session; a later call begins another.
    func close() {
        connection = nil
    }

    private func readyConnection(_ interrupt: Interrupt) throws(PostgresFailure) -> PostgresConnection {
        if let connection { return connection }
        let made = try connect(interrupt)
        connection = made
        claimedJournals = []
        return made
    }

    private func connect(_ interrupt: Interrupt) throws(PostgresFailure) -> PostgresConnection {
        let settings = try ConnectionSettings(configuration.connection)
        let connection = try PostgresConnection(settings, interrupt: interrupt)
        let limit = WaitLimit(interrupt: interrupt, timeout: settings.connectTimeout)
        role = connection.role
        try connection.findPooler(settings, limit)
        try connection.execute(
            """
            SET standard_conforming_strings = on; SET client_min_messages = warning;
            SET statement_timeout = \(configuration.deliveryTimeout.milliseconds);
            SET lock_timeout = \(lockTimeout.milliseconds);
            SET idle_in_transaction_session_timeout = '60s'; \(ConnectionSettings.serverKeepalives)
            """,
            limit
        )
        return connection
    }

    private func recover(_ connection: PostgresConnection, from failure: PostgresFailure, _ limit: WaitLimit) {
        switch PostgresErrorClass(failure) {
        case .refused, .duplicate, .superseded, .locked: rollBack(connection, limit)
        case _ where PostgresErrorClass.isOfTable(failure): rollBack(connection, limit)
        case .cancelled, .timeout:
            // The server may still be waiting for a lock on our behalf.
            connection.requestCancel()
            self.connection = nil
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
    /// For a setting of the server's, which has no room for more than 24 days, and for which 0 is no limit.
    var milliseconds: Int32 { Int32(min(max(1, self / .milliseconds(1)), Double(Int32.max))) }
}

extension PostgresConnection {
    /// Looks what there is in a schema.
    func presentSchema(named name: String, _ limit: WaitLimit) throws(PostgresFailure) -> PresentSchema {
        PresentSchema(name: name, rows: try rows(of: PresentSchema.query, parameters: [name], limit))
    }
}
