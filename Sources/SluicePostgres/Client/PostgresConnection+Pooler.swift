import CLibPQ

extension PostgresConnection {
    /// How long a second connection is waited for; a pool that has no room for it is no answer.
    private static let probeTimeout = Duration.seconds(2)

    /// Finds out whether a pooler is between us and the server, and whether it keeps one session for this connection.
    ///
    /// A pooler tells its clients process numbers of its own. Staging tables and settings belong to a session, so one
    /// that gives each transaction another session does not work. Such a pooler gives the session that is idle here to
    /// a second connection, or another one to this connection while the second has a transaction open.
    ///
    /// Called before anything is set in the session, which a pooler would leave to its other clients.
    ///
    /// - Throws: a failure of source `pooler` where it does not keep a session.
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
            // PgBouncer's word for pooling by statement.
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
