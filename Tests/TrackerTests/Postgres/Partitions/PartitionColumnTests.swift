import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// What `ColumnTypeTests` shows of deliveries with a checkpoint, shown of partitions.
@Suite("PostgreSQL: partitions and every type in every column", .timeLimit(.minutes(5)))
struct PartitionColumnTests {
    private static let partition = LoadedPartition(loader: "shop", cluster: "cluster", topic: "topic", number: 0)

    @Test(
        "a table with another type of column gets no rows; its records are refused, which name the column, and others are loaded",
        .promise("exact-columns")
    )
    func altered() async throws {
        let base = try await PostgresFixture(ColumnCases.plan())
        try await base.database.run(ColumnCases.setup)
        _ = try await base.tracker.claim(Self.partition, start: 0, owner: "a")
        var expected: [String] = []
        var offset = 0
        for column in ColumnCases.columns {
            // The tracker finds that the tables are as planned.
            try await base.database.run(ColumnCases.repairs)
            #expect(try await load([("Alpha", "1")], from: &offset, in: base).words == "committed 0")
            try await base.database.run(ColumnCases.alterations(to: column))
            let broken = ColumnCases.planned.filter { !$0.exact.contains(column) }
            var events = [("Alpha", "1")]
            for planned in ColumnCases.planned {
                events += planned.values.map { (planned.event, $0) }
                if !planned.exact.contains(column) { expected += planned.values.map { _ in planned.columnName } }
            }
            let count = broken.map(\.values.count).reduce(0, +)
            let words = try await load(events, from: &offset, in: base).words
            #expect(words == (count == 0 ? "committed 0" : "committed \(count), \(count) broken"), "\(column)")
            let counts = ColumnCases.planned.map { "SELECT count(*) FROM \($0.table); TRUNCATE \($0.table);" }
            let rows = try await base.database.run(counts.joined())
            #expect(
                rows == ColumnCases.planned.map { $0.exact.contains(column) ? "\($0.values.count)" : "0" },
                "\(column)"
            )
        }
        let reasons = try await base.database.run(
            "SELECT verdict->>'reason' FROM analytics._sluice_refused ORDER BY record_offset"
        )
        #expect(reasons.count == expected.count)
        for (reason, column) in zip(reasons, expected) { #expect(reason.contains(column)) }
        await base.tracker.stop()
    }

    /// Loads events, each with its value as JSON, as the next records of the partition.
    private func load(
        _ events: [(name: String, value: String)],
        from offset: inout Int,
        in base: PostgresFixture
    ) async throws -> PartitionOutcome {
        let start = offset
        offset += events.count
        let lines = events.enumerated().map { index, event in
            #"{"id":"\#(id(start + index))","name":"\#(event.name)","payload":{"value":\#(event.value)}}"#
        }
        let delivery = PartitionDelivery(
            partition: Self.partition,
            epoch: 1,
            start: Int64(start),
            end: Int64(offset),
            lastRecord: nil,
            events: try base.delivery(lines),
            refused: [],
            refusing: Set(events.map { SQLName.snakeCase($0.name) })
        ) { position, reason in
            let text =
                switch reason {
                case .refused(let text): "refused: \(text)"
                case .broken(let text): text
                }
            let quoted = text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
            return PartitionFixture.record(Int64(start + position), #"{"reason":"\#(quoted)"}"#)
        }
        return await base.tracker.load(delivery)
    }
}
