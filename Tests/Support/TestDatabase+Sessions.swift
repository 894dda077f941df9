extension TestDatabase {
    /// So many sessions never waited.
    package struct NeverWaited: Error, CustomStringConvertible {
        package let description: String
    }

    /// Returns when so many sessions of Sluice wait in this database for what PostgreSQL calls `event`.
    ///
    /// `application` is the pattern that the name of their application is like.
    ///
    /// - Throws: `NeverWaited` after four seconds.
    package func waitForSessions(
        _ count: Int,
        waitingFor event: String,
        application: String = "sluice"
    ) async throws {
        for _ in 0..<200 {
            let waiting = try await run(
                """
                SELECT pg_sleep(0.02);
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE '\(application)' AND wait_event = '\(event)'
                """
            )
            if waiting.last == "\(count)" { return }
        }
        throw NeverWaited(description: "there never were \(count) sessions that wait for \(event)")
    }
}
