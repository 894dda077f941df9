extension TestDatabase {
    /// Returns once exactly `count` sessions in this database wait for the wait event `event`.
    ///
    /// `application` is a `LIKE` pattern for the application's name. The test's time limit ends the wait.
    ///
    /// - Throws: `CancellationError` if the test is cancelled first.
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
