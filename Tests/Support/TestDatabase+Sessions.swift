extension TestDatabase {
    /// Returns when just so many sessions in this database wait for what PostgreSQL calls `event`.
    ///
    /// `application` is the pattern that the name of their application is like. The time limit of the test ends the wait.
    ///
    /// - Throws: `CancellationError` where the test is cancelled before there are so many.
    package func waitForSessions(
        _ count: Int,
        waitingFor event: String,
        application: String = "sluice"
    ) async throws {
        let question = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE '\(application)' AND wait_event = '\(event)'
            """
        while try await run(question) != ["\(count)"] { try Task.checkCancellation() }
    }
}
