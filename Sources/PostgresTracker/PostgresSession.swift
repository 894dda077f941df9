import EventPipeline

/// One session with the server, on a thread of its own: whatever blocks, blocks there.
///
/// The connection is made when it is needed, and let go after any failure that leaves its state in doubt.
actor PostgresSession {
    let configuration: PostgresConfiguration
    var memory = DuplicateMemory()
    var targets: LoadTargets
    let sender = RowSender()
    nonisolated let checkpoints: CheckpointTable
    /// Whether the last transaction with a checkpoint ended without an answer, so that it may be committed.
    var isInDoubt = false

    private nonisolated let thread: BlockingThread
    private var connection: PostgresConnection?

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

    /// Looks whether the database has all that the catalog's events need.
    func check(_ catalog: EventCatalog, _ interrupt: Interrupt) throws(TrackerError) {
        let wanted = EventTable.tables(of: catalog.plan, tracker: configuration.name, schema: configuration.schema)
        let gap: SchemaGap?
        do {
            gap = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                SchemaGap(in: try connection.presentSchema(named: configuration.schema, limit), for: wanted)
            }
        } catch {
            throw TrackerError(error)
        }
        if let gap { throw TrackerError(gap) }
    }

    /// Ends the session; a later call begins another.
    func close() {
        connection = nil
    }

    private func readyConnection(_ interrupt: Interrupt) throws(PostgresFailure) -> PostgresConnection {
        if let connection { return connection }
        let made = try connect(interrupt)
        connection = made
        return made
    }

    private func connect(_ interrupt: Interrupt) throws(PostgresFailure) -> PostgresConnection {
        let settings = try ConnectionSettings(configuration.connection)
        let connection = try PostgresConnection(settings, interrupt: interrupt)
        let limit = WaitLimit(interrupt: interrupt, timeout: settings.connectTimeout)
        let milliseconds = min(max(1, configuration.deliveryTimeout / .milliseconds(1)), Double(Int32.max))
        try connection.execute(
            """
            SET standard_conforming_strings = on; SET client_min_messages = warning;
            SET statement_timeout = \(Int32(milliseconds)); SET idle_in_transaction_session_timeout = '60s'
            """,
            limit
        )
        return connection
    }

    private func recover(_ connection: PostgresConnection, from failure: PostgresFailure, _ limit: WaitLimit) {
        switch PostgresErrorClass(failure) {
        case .refused, .duplicate:
            guard !connection.isIdle else { return }
            do {
                try connection.execute("ROLLBACK", limit)
            } catch {
                self.connection = nil
            }
        case .cancelled, .timeout:
            // The server may still be waiting for a lock on our behalf.
            connection.requestCancel()
            self.connection = nil
        case .unavailable, .notPrepared, .misconfigured:
            // Staging tables go with the connection; they may be out of date.
            self.connection = nil
        }
    }
}

extension TrackerError {
    /// The database lacks what the plan needs.
    init(_ gap: SchemaGap) {
        self.init(code: .notPrepared, message: gap.message, isRetryable: false)
    }
}

extension PostgresConnection {
    /// Looks what there is in a schema.
    func presentSchema(named name: String, _ limit: WaitLimit) throws(PostgresFailure) -> PresentSchema {
        PresentSchema(name: name, rows: try rows(of: PresentSchema.query, parameters: [name], limit))
    }
}
