import CLibPQ

extension PostgresConnection {
    /// The timeout of the second connection; a pool without room for it proves nothing.
    private static let probeTimeout = Duration.seconds(2)

    /// Detects whether a pooler is between this client and the server, and whether it keeps one session for this connection.
    ///
    /// Staging tables and settings belong to a session, so a pooler that gives each transaction another session does not
    /// work. To detect one, this opens a second connection and a transaction in it: such a pooler gives the second
    /// connection the session that is idle here, or gives this connection another one. Any pooler is recognized by the
    /// process number, which it reports as one of its own.
    ///
    /// Call this before anything is set in the session, because a pooler would pass the settings on to its other clients.
    ///
    /// - Throws: A failure of source `pooler` if the pooler does not keep a session.
    func findPooler(_ settings: ConnectionSettings, _ limit: WaitLimit) throws(PostgresFailure) {
        let session = try serverProcess(limit)
        isPooled = session != "\(PQbackendPID(handle))"
        guard isPooled else { return }
        do throws(PostgresFailure) {
            let shorter = WaitLimit(
                interrupt: limit.interrupt,
                timeout: min(Self.probeTimeout, settings.connectTimeout)
            )
            let second = try PostgresConnection(settings, limit: shorter)
            try second.execute("BEGIN", shorter)
            let other = try second.serverProcess(shorter)
            if other == session { throw .pooledByTransaction }
        } catch {
            // PgBouncer returns this code if it pools by statement.
            if error.sqlState == "08P01" || error.source == .pooler { throw .pooledByTransaction }
            if error.source == .interrupt { throw error }
        }
        if try serverProcess(limit) != session { throw .pooledByTransaction }
    }

    private func serverProcess(_ limit: WaitLimit) throws(PostgresFailure) -> String? {
        try lastRows(of: "SELECT pg_backend_pid()", limit).first?.first ?? nil
    }
}

extension PostgresFailure {
    fileprivate static let pooledByTransaction = PostgresFailure(
        source: .pooler,
        message: "A pooler between Sluice and PostgreSQL gives each transaction another session; "
            + "set its pool mode to 'session' (PgBouncer: pool_mode = session), or connect to PostgreSQL directly"
    )
}
