import EventModel
import SluicePostgres
import Testing

@Suite("PostgreSQL: partitions by time")
struct TimePartitionTests {
    private static func time(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

    @Test(
        "a range of times is covered from the start of its first month or day to the end of its last one, without gaps"
    )
    func covering() throws {
        let cases: [(TablePartitioning, String, String, [String])] = [
            (.none, "2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z", []),
            (
                .month, "2025-11-30T23:59:59.999999Z", "2026-03-01T00:00:00Z",
                [
                    "t_2025_11", "t_2025_12", "t_2026_01", "t_2026_02", "t_2026_03",
                ]
            ),
            (.month, "2026-02-28T23:59:59Z", "2026-02-28T23:59:59Z", ["t_2026_02"]),
            (.day, "2024-02-28T12:00:00Z", "2024-03-01T00:00:00Z", ["t_2024_02_28", "t_2024_02_29", "t_2024_03_01"]),
            (.day, "2026-02-28T12:00:00Z", "2026-02-28T12:00:00Z", ["t_2026_02_28"]),
            (.month, "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", ["t_1969_12", "t_1970_01"]),
            (.month, "0001-01-01T00:00:00Z", "0001-02-01T00:00:00Z", ["t_0001_01", "t_0001_02"]),
        ]
        for (partitioning, start, end, names) in cases {
            let partitions = TimePartition.covering(try Self.time(start)...Self.time(end), by: partitioning)
            #expect(partitions.map { $0.name(of: "t") } == names)
            for (partition, next) in zip(partitions, partitions.dropFirst()) { #expect(partition.end == next.first) }
        }
        let november = try #require(
            TimePartition.covering(
                try Self.time("2026-11-05T00:00:00Z")...Self.time("2026-11-05T00:00:00Z"),
                by: .month
            ).first
        )
        #expect(november.bounds == "FROM ('2026-11-01T00:00:00Z') TO ('2026-12-01T00:00:00Z')")
    }

    @Test("the calendar's last month and day end")
    func lastMonth() throws {
        let end = try Self.time("9999-12-31T23:59:59Z")
        #expect(TimePartition.covering(try Self.time("9999-11-01T00:00:00Z")...end, by: .month).count == 2)
        #expect(TimePartition.covering(try Self.time("9999-12-30T00:00:00Z")...end, by: .day).count == 2)
    }

    @Test("a name has at most 63 bytes, and two tables have no partition of the same name")
    func names() throws {
        let day = try #require(CalendarDate("2026-11-05"))
        for partitioning in [TablePartitioning.month, .day] {
            let partition = TimePartition(of: partitioning, containing: day)
            let stems = [String(repeating: "a", count: 62), String(repeating: "ü", count: 31)]
            let tables = stems.flatMap { [$0 + "x", $0 + "y", $0] } + ["bought"]
            let names = tables.map(partition.name(of:))
            #expect(Set(names).count == tables.count)
            #expect(names.allSatisfy { $0.utf8.count <= 63 })
            #expect(names.last == (partitioning == .month ? "bought_2026_11" : "bought_2026_11_05"))
        }
    }

    @Test("a table covers the times between the bounds of its partitions, whatever their order, and no others")
    func coverage() {
        let bounds: [(Int64?, Int64?)] = [(30, 40), (nil, 10), (20, 30), (50, nil), (25, 35), (7, 7)]
        for rotation in bounds.indices {
            var coverage = PartitionCoverage(column: "occurred_at")
            for (start, end) in bounds[rotation...] + bounds[..<rotation] { coverage.add(from: start, to: end) }
            for time in Int64(-5)...60 {
                let isCovered = time < 10 || (20..<40).contains(time) || time >= 50
                #expect(coverage.contains(Timestamp(microseconds: time)) == isCovered, "\(time)")
            }
            #expect(coverage.secondsAhead(of: Timestamp(microseconds: 15)) == 0)
            #expect(coverage.secondsAhead(of: Timestamp(microseconds: 55)) == nil)
        }
        var coverage = PartitionCoverage(column: "occurred_at")
        #expect(!coverage.contains(Timestamp(microseconds: 0)))
        #expect(coverage.secondsAhead(of: Timestamp(microseconds: 0)) == 0)
        coverage.add(from: 0, to: 3 * 86_400_000_000)
        #expect(coverage.secondsAhead(of: Timestamp(microseconds: 0)) == 3 * 86_400)
        #expect(coverage.secondsAhead(of: Timestamp(microseconds: 1)) == 3 * 86_400 - 1)
    }
}
