import EventSchema
import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: compression", .timeLimit(.minutes(5)))
struct PostgresCompressionTests {
    @Test("new columns of JSON are compressed with lz4, also in partitions", arguments: TablePartitioning.allCases)
    func columns(partitions: TablePartitioning) async throws {
        let fixture = try await PostgresFixture([event("Sold", extra: true)], partitions: partitions)
        let grown = TrackingPlan(events: [event("Sold", [property("lines", .array, required: false)], extra: true)])
        let configuration = PostgresConfiguration(connection: fixture.database.url, partitions: partitions)
        _ = try await PostgresMigrator(configuration).migrate(grown, applying: Migration.builtIn)
        let found = try await fixture.database.run(
            """
            SELECT attname, string_agg(DISTINCT attcompression::text, ','), count(*) > 1
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relname LIKE 'sold%' AND c.relkind IN ('r', 'p') AND atttypid = 'jsonb'::regtype
            GROUP BY attname ORDER BY attname
            """
        )
        let isDivided = partitions == .none ? "f" : "t"
        #expect(found == ["context", "extra", "lines"].map { "\($0)|l|\(isDivided)" })
    }
}
