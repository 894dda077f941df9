import EventModel
import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// A migrated database with the tables of a plan, and a started tracker.
struct PostgresFixture {
    let database: TestDatabase
    let catalog: EventCatalog
    let tracker: PostgresTracker

    /// Migrates a database, by default a new one, and starts a tracker on it.
    init(
        _ events: [EventDefinition],
        in database: TestDatabase? = nil,
        schema: String = "analytics",
        partitions: TablePartitioning = .none
    ) async throws {
        if let database {
            self.database = database
        } else {
            self.database = try await PrivatePostgres.shared().makeDatabase()
        }
        catalog = EventCatalog(plan: TrackingPlan(events: events))
        let configuration = PostgresConfiguration(connection: self.database.url, schema: schema, partitions: partitions)
        _ = try await PostgresMigrator(configuration).migrate(catalog.plan, applying: Migration.builtIn)
        tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        try await tracker.start(for: catalog)
    }

    /// The same database and tracker with another plan, to which the tables are not migrated.
    init(_ other: PostgresFixture, with catalog: EventCatalog) {
        database = other.database
        tracker = other.tracker
        self.catalog = catalog
    }

    /// Creates and starts another tracker on the same database.
    func startedTracker(
        name: String = PostgresConfiguration.defaultName,
        connection: String? = nil,
        deliveryTimeout: Duration = .seconds(60),
        lockTimeout: Duration = .seconds(2)
    ) async throws -> PostgresTracker {
        let configuration = PostgresConfiguration(
            connection: connection ?? database.url,
            name: name,
            deliveryTimeout: deliveryTimeout,
            lockTimeout: lockTimeout
        )
        let tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        try await tracker.start(for: catalog)
        return tracker
    }

    /// Checks events as if they came over HTTP, one JSON text each; all must be valid.
    func delivery(_ events: [String]) throws -> Delivery {
        Delivery([EventSlice(try batch(events))])
    }

    func batch(_ events: [String]) throws -> EventBatch {
        let validator = EventValidator(catalog: catalog)
        var body = events.map { $0.split(separator: "\n").joined() }.joined(separator: "\n")
        let checked = try body.withUTF8 { try validator.check(UnsafeRawBufferPointer($0), as: .lines) }
        #expect(checked.rejections.map(\.violations) == [])
        return try #require(checked.batch)
    }

    /// The fields of every row of a table, ordered by id.
    func rows(_ columns: String, of table: String) async throws -> [String] {
        try await database.run("SET TimeZone = 'UTC'; SELECT \(columns) FROM \(table) ORDER BY id")
    }

    func count(_ table: String) async throws -> Int {
        Int(try await database.run("SELECT count(*) FROM \(table)").first ?? "") ?? -1
    }
}

/// An event for the tracker `postgres`.
func event(
    _ name: String,
    _ properties: [PropertyDefinition] = [],
    description: String? = nil,
    extra: Bool = false
) -> EventDefinition {
    EventDefinition(
        key: name,
        description: description,
        trackers: ["Postgres"],
        properties: properties,
        allowsAdditionalProperties: extra,
        location: PlanLocation(file: "test.plist", line: 1, column: 1)
    )
}

func property(
    _ name: String,
    _ type: PropertyType,
    required: Bool = true,
    nullable: Bool = false,
    description: String? = nil
) -> PropertyDefinition {
    PropertyDefinition(
        name: name,
        type: type,
        isRequired: required,
        isNullable: nullable,
        description: description,
        location: PlanLocation(file: "test.plist", line: 1, column: 1)
    )
}

/// An id that contains a number, for events as JSON.
func id(_ number: Int) -> String {
    EventID(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0000 | UInt64(number)).description
}
