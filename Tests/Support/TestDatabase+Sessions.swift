import ServerTestSupport

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
        while try await run(question) != ["\(count)"] { try await waitBriefly() }
    }

    /// Waits until one of Sluice's sessions waits for rows that do not arrive.
    package func waitForStuckCopy() async throws {
        let question = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sluice'
            AND state = 'active' AND wait_event = 'ClientRead'
            """
        while try await run(question) != ["1"] { try await waitBriefly() }
    }

    /// Makes commits wait for a standby of this name, or for none; returns once that is in effect.
    package func setStandby(_ name: String) async throws {
        try await run("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try await run("SELECT pg_reload_conf()")
        // A new session has the postmaster's setting. By then the postmaster has also told the checkpointer, which
        // applies the setting before it makes a requested checkpoint.
        while try await run("SHOW synchronous_standby_names") != (name.isEmpty ? [] : [name]) {
            try await waitBriefly()
        }
        try await run("CHECKPOINT")
    }
}
