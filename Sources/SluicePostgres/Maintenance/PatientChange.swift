/// Statements that need a lock which other sessions hold at times.
///
/// While a statement waits for such a lock, all later queries of the table wait behind it. So it waits briefly, and is repeated
/// after a pause, in which they run.
struct PatientChange {
    /// The timeout of a lock that keeps no query waiting.
    static let lockTimeout = "SET lock_timeout = '2s'"
    /// The attempts, and the pause between them.
    private static let attempts = 20
    private static let pauseInSeconds = 0.5

    let connection: PostgresConnection
    let limit: WaitLimit
    /// What undoes a failed attempt if it has left a transaction.
    var undo = "ROLLBACK"

    /// Runs statements until they succeed, fail for another reason than a lock, or have failed too often.
    func run(_ sql: String) throws(PostgresFailure) {
        try run { () throws(PostgresFailure) in try connection.execute(sql, limit) }
    }

    /// Does the same with several calls, after each failure of which nothing may remain but an open transaction.
    func run(_ change: () throws(PostgresFailure) -> Void) throws(PostgresFailure) {
        var attempt = 1
        while true {
            do throws(PostgresFailure) {
                try change()
                return
            } catch {
                guard error.isOfLock, attempt < Self.attempts else { throw error }
                if !connection.isIdle { try connection.execute(undo, limit) }
                try connection.execute("SELECT pg_catalog.pg_sleep(\(Self.pauseInSeconds))", limit)
                attempt += 1
            }
        }
    }
}

extension PostgresFailure {
    /// Whether a lock was not obtained in time, or the wait for it was a deadlock.
    var isOfLock: Bool { sqlState == "55P03" || sqlState == "40P01" }
}
