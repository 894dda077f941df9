import EventModel
import SluicePostgres
import Testing

@Suite("PostgreSQL: missing partitions")
struct PartitionedTableTests {
    private static func day(_ text: String) throws -> Int64 {
        Int64(try #require(CalendarDate(text)).daysSince1970) * 86_400_000_000
    }

    private static func table(_ bounds: [(String?, String?)]) throws -> PartitionedTable {
        var table = PartitionedTable(schema: "analytics", name: "t", column: "occurred_at", owner: "o")
        table.partitions = try bounds.enumerated().map { number, bounds in
            PartitionedTable.Partition(
                schema: "p",
                name: "t_\(number)",
                start: try bounds.0.map(day),
                end: try bounds.1.map(day)
            )
        }
        return table
    }

    private static func months(_ first: String, _ last: String) throws -> [TimePartition] {
        let times = [try day(first), try day(last)].map { Timestamp(microseconds: $0) }
        return TimePartition.covering(times[0]...times[1], by: .month)
    }

    @Test("only gaps are filled, whatever bounds the existing partitions have")
    func gaps() throws {
        let cases: [([(String?, String?)], [String])] = [
            ([], ["2026-01-01 2026-02-01", "2026-02-01 2026-03-01", "2026-03-01 2026-04-01"]),
            ([(nil, nil)], []),
            ([(nil, "2026-02-01")], ["2026-02-01 2026-03-01", "2026-03-01 2026-04-01"]),
            ([(nil, "2026-02-10")], ["2026-02-10 2026-03-01", "2026-03-01 2026-04-01"]),
            ([("2026-01-01", "2026-04-01")], []),
            (
                [("2026-01-10", "2026-01-20"), ("2026-03-01", nil)],
                ["2026-01-01 2026-01-10", "2026-01-20 2026-02-01", "2026-02-01 2026-03-01"]
            ),
            ([("2025-12-15", "2026-02-02"), ("2026-02-02", "2026-03-31")], ["2026-03-31 2026-04-01"]),
        ]
        for (bounds, expected) in cases {
            let missing = try Self.table(bounds).missing(in: Self.months("2026-01-15", "2026-03-15"))
            let ranges = missing.map { missing in
                [missing.microseconds.lowerBound, missing.microseconds.upperBound]
                    .map { "\(CalendarDate(daysSince1970: Int32($0 / 86_400_000_000)))" }.joined(separator: " ")
            }
            #expect(ranges == expected)
            for (one, range) in zip(missing, ranges) {
                let isWholeMonth = range.hasSuffix("-01") && range.split(separator: "-")[2].hasPrefix("01")
                #expect(one.isWhole == isWholeMonth)
            }
        }
    }

    @Test("how a table is divided is read from its newest partition with two bounds")
    func partitioning() throws {
        #expect(try Self.table([]).partitioning == nil)
        #expect(try Self.table([(nil, "2026-02-01")]).partitioning == nil)
        #expect(try Self.table([("2026-01-01", "2026-01-02"), ("2026-02-01", "2026-03-01")]).partitioning == .month)
        #expect(try Self.table([("2026-01-01", "2026-02-01"), ("2026-02-01", "2026-02-02")]).partitioning == .day)
        #expect(try Self.table([("2026-02-01", "2026-02-02"), ("2026-03-01", nil)]).partitioning == .day)
    }
}
