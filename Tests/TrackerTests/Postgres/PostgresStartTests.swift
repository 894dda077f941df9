import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: start")
struct PostgresStartTests {
    /// Starts a tracker and returns the error; a start that succeeds fails the test.
    private func startError(
        _ connection: String,
        _ events: [EventDefinition] = [event("Bought", [property("number", .integer)])],
        password: String? = nil
    ) async -> TrackerError? {
        let configuration = PostgresConfiguration(connection: connection, password: password)
        let tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        do {
            try await tracker.start(for: EventCatalog(plan: TrackingPlan(events: events)))
        } catch {
            await tracker.stop()
            return error
        }
        Issue.record("it started")
        return nil
    }

    @Test("with an empty database the start fails, and the error names sluice migrate")
    func empty() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let error = await startError(database.url)
        #expect(error?.code == .notPrepared)
        #expect(error?.isRetryable == false)
        #expect(error?.message == #"The database lacks the schema "analytics"; run `sluice migrate`."#)
    }

    @Test("a tracker that requires every table does not start if one is missing, and the error names it")
    func requiresEveryTable() async throws {
        let fixture = try await PostgresFixture([event("Bought"), event("Seen")])
        try await fixture.database.run("DROP TABLE analytics.seen")
        let tracker = PostgresTracker(
            PostgresConfiguration(connection: fixture.database.url, requiresEveryTable: true),
            logger: Logger(label: "test")
        )
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: fixture.catalog) }
        #expect(error?.code == .notPrepared)
        #expect(error?.message.contains(#"the table "analytics"."seen""#) == true)
        await tracker.stop()
    }

    @Test("the error names the first three missing tables and columns, and counts the others")
    func missing() async throws {
        let fixture = try await PostgresFixture([event("Bought", [property("number", .integer)])])
        let grown = [
            event("Bought", [property("number", .integer), property("a", .string), property("b", .date)]),
            event("Seen"),
            event("Sold"),
        ]
        let error = await startError(fixture.database.url, grown)
        #expect(error?.code == .notPrepared)
        #expect(
            error?.message
                == #"The database lacks the column "analytics"."bought"."a", the column "analytics"."bought"."b", "#
                + #"the table "analytics"."seen" and 1 more; run `sluice migrate`."#
        )
    }

    @Test("the error names a column of another type and a NOT NULL that the plan does not have")
    func changed() async throws {
        let fixture = try await PostgresFixture([event("Bought", [property("number", .integer, required: false)])])
        try await fixture.database.run(
            """
            ALTER TABLE analytics.bought ALTER number TYPE numeric(10,2), ALTER user_id SET NOT NULL
            """
        )
        let error = await startError(
            fixture.database.url,
            [event("Bought", [property("number", .integer, required: false)])]
        )
        #expect(
            error?.message
                == #"The column "analytics"."bought"."number" has type numeric(10,2), and the plan needs bigint; change the "#
                + "column's type by hand, because `sluice migrate` changes no type, or give the property another name. "
                + #"The column "analytics"."bought"."user_id" is NOT NULL, but the plan allows events without a value for it; "#
                + "then run `sluice migrate`."
        )
    }

    @Test("an unreachable server is a retryable error")
    func unreachable() async {
        let error = await startError("postgres://127.0.0.1:1/x")
        #expect(error?.code == .unavailable)
        #expect(error?.isRetryable == true)
        #expect(await startError("host=/nonexistent")?.isRetryable == true)
    }

    @Test("a wrong password, a missing password and an unknown database are configuration errors")
    func refused() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run(
            """
            DO $$BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right';
            EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$
            """
        )
        let port = database.server.port
        for connection in [
            "postgres://guarded:wrongsecret@127.0.0.1:\(port)/\(database.name)",
            "postgres://guarded@127.0.0.1:\(port)/\(database.name)",
            "postgres://postgres@127.0.0.1:\(port)/nosuchdatabase",
            "postgres://nosuchuser@127.0.0.1:\(port)/\(database.name)",
        ] {
            let error = await startError(connection)
            #expect(error?.code == .misconfigured)
            #expect(error?.isRetryable == false)
            #expect(error?.description.contains("wrongsecret") == false)
        }
    }

    @Test("a password beside the connection replaces the one in it")
    func password() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run(
            """
            DO $$BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right';
            EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$
            """
        )
        for connection in [
            "postgres://guarded:wrong@127.0.0.1:\(database.server.port)/\(database.name)",
            "host=127.0.0.1 port=\(database.server.port) dbname=\(database.name) user=guarded",
        ] {
            // The login is accepted; only the schema is missing.
            let error = await startError(connection, password: "right")
            #expect(error?.code == .notPrepared, "\(error?.description ?? "")")
        }
    }

    @Test("a connection string that libpq cannot parse is a configuration error that does not repeat the string")
    func unreadable() async {
        for connection in [
            "postgres//user:secret@host/db", "host=a nosuchkeyword=secret", "postgres://u:secret@h:p:1/",
            // The host is `secret@127.0.0.1`.
            "postgres://u:a@secret@127.0.0.1:1/db",
        ] {
            let error = await startError(connection)
            #expect(error?.isRetryable == false || connection.hasSuffix("p:1/"))
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test(
        "invalid settings are rejected without network access, and the error does not repeat them",
        arguments: [
            "postgres//user:secret@host/db", "host=a nosuchkeyword=secret", "postgres://u:secret@host:70000/db",
            "host=a port=none password=secret", "host=a,b port=1,0 password=secret",
            "host=a sslmode=perhaps password=secret", "postgres://u:secret@a/?connect_timeout=soon",
        ]
    )
    func invalidSettings(connection: String) {
        let tracker = PostgresTracker(PostgresConfiguration(connection: connection), logger: Logger(label: "test"))
        let catalog = EventCatalog(plan: TrackingPlan(events: []))
        let error = #expect(throws: TrackerError.self) { try tracker.checkSettings(for: catalog) }
        #expect(error?.code == .invalidSettings)
        #expect(error?.isRetryable == false)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(
        "settings that may work are accepted without network access",
        arguments: ["", "postgres://u:p@nowhere.invalid:1/x", "host=a,b port=5432, sslmode=verify-full", "dbname=x"]
    )
    func possibleSettings(connection: String) throws {
        let tracker = PostgresTracker(PostgresConfiguration(connection: connection), logger: Logger(label: "test"))
        try tracker.checkSettings(for: EventCatalog(plan: TrackingPlan(events: [])))
    }

    @Test("the connection can be given as libpq keywords instead of a URI, and events of other trackers need no table")
    func keywords() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let tracker = PostgresTracker(
            PostgresConfiguration(
                connection: "host=127.0.0.1 port=\(database.server.port) user=postgres dbname=\(database.name)"
            ),
            logger: Logger(label: "test")
        )
        let elsewhere = EventDefinition(
            key: "Elsewhere",
            trackers: ["kafka"],
            location: PlanLocation(file: "test.plist", line: 1, column: 1)
        )
        try await tracker.start(for: EventCatalog(plan: TrackingPlan(events: [elsewhere])))
        await tracker.stop()
    }

    @Test("the SQLSTATE of a refused connection is parsed from libpq's message")
    func messages() {
        let starting = ConnectionMessage(
            """
            connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  57P03: the database system is starting up
            LOCATION:  ProcessStartupPacket, postmaster.c:2349

            """
        )
        #expect(starting.sqlState == "57P03")
        #expect(
            starting.text
                == #"connection to server at "db" (10.0.0.1), port 5432 failed: FATAL: the database system is starting up"#
        )
        let refused = ConnectionMessage(
            "connection to server at \"::1\", port 5432 failed: Connection refused\n\tIs it running?\n"
        )
        #expect(refused.sqlState == nil)
        #expect(refused.text == #"connection to server at "::1", port 5432 failed: Connection refused Is it running?"#)
    }

    @Test(
        "SQLSTATEs distinguish outages from bad data",
        arguments: [
            ("08006", PostgresErrorClass.unavailable), ("57P01", .unavailable), ("57P03", .unavailable),
            ("53300", .unavailable), ("40P01", .unavailable), ("40001", .unavailable), ("55P03", .locked),
            ("25006", .unavailable), ("58030", .unavailable), ("XX000", .unavailable), ("ZZ999", .unavailable),
            ("57014", .timeout), ("22001", .refused), ("22P03", .refused), ("23502", .refused), ("23514", .refused),
            ("P0001", .refused), ("54000", .refused), ("23505", .duplicate), ("42P01", .notPrepared),
            ("42703", .notPrepared),
            ("28P01", .misconfigured), ("3D000", .misconfigured), ("42501", .misconfigured),
        ]
    )
    func classes(state: String, expected: PostgresErrorClass) {
        #expect(PostgresErrorClass(sqlState: state) == expected)
    }
}
