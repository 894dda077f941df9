import EventModel
import Logging
import SluicePostgres
import SluiceTesting
import Synchronization
import TestSupport
import Testing

@Suite("PostgreSQL: contract")
struct PostgresContractTests {
    @Test("the PostgreSQL tracker meets the tracker contract", .timeLimit(.minutes(5)))
    func contract() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let configuration = PostgresConfiguration(connection: database.url)
        _ = try await PostgresMigrator(configuration).migrate(
            TrackerContract.plan(trackerName: configuration.name),
            applying: Migration.builtIn
        )
        // The order of loaded rows is not verified, and a locked table plays the outage.
        let lock = TableLock(database: database)
        try await TrackerContract(
            traits: .init(keepsOrder: false, deduplicates: true),
            outage: .init(begin: { try lock.take() }, end: { try lock.release() }),
            makeTracker: { PostgresTracker(configuration, logger: Logger(label: "test")) },
            delivered: {
                try await database.run(
                    "SELECT id FROM analytics.contract_order UNION ALL SELECT id FROM analytics.contract_remark"
                )
                .compactMap { EventID($0) }
            }
        ).verify()
    }
}

/// A session that holds a lock on a table.
private final class TableLock: Sendable {
    private let database: TestDatabase
    private let session = Mutex<TestSession?>(nil)

    init(database: TestDatabase) {
        self.database = database
    }

    func take() throws {
        let held = try database.server.openSession(database.name)
        try held.run("BEGIN; LOCK TABLE analytics.contract_order; SELECT 1;")
        session.withLock { $0 = held }
    }

    func release() throws {
        try session.withLock { held in
            try held?.close()
            held = nil
        }
    }
}
