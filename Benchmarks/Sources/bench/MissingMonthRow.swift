import Foundation

/// Loading events when one month has no partitions, compared with loading them when every month has.
struct MissingMonthRow: Row {
    let name = "missing-month"
    let what = "draining the journal to PostgreSQL while a month has no partitions"

    private static let events = 1_000_000
    private static let rounds = 3
    private static let month = "2011-01-01"

    func measure(at site: Site) throws -> Measurement {
        // Six weeks, with eleven days in January.
        let load = try Material(at: site).real(count: 130_000)
        let december = try Material(at: site).real(count: 3_000)
        let whole = Reference.itself("with all months", target: 0.8) {
            try EventTables.make(at: site)
            try EventTables.empty(EventTables.filled, at: site)
            return try Outage.survive(Self.events, of: load, last: december, at: site).eventsASecond
        }
        defer { try? EventTables.make(at: site) }
        var parked: [Double] = []
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: min(Self.rounds, site.rounds),
            with: [whole]
        ) {
            try EventTables.make(at: site)
            try EventTables.empty(EventTables.filled, at: site)
            try removeMonth(at: site)
            var count = 0
            let outage = try Outage.survive(Self.events, of: load, last: december, at: site) { quarantine in
                count = try self.parked(in: quarantine, at: site)
            }
            parked.append(Double(count) / Double(outage.events))
            return outage.eventsASecond
        }
        measurement.details = [
            .init(what: "events of the month, all parked and none refused", value: median(parked) * 100, unit: "%")
        ]
        return measurement
    }

    private func removeMonth(at site: Site) throws {
        for name in EventTables.names {
            let query = """
                select 'drop table ' || relid::regclass from pg_partition_tree('analytics.\(name)'), pg_class \
                where pg_class.oid = relid and pg_get_expr(relpartbound, relid) like 'FOR VALUES FROM (''\(Self.month)%'
                """
            let statements = try EventTables.sql([query], at: site).split(separator: "\n").map(String.init)
            guard statements.count == 1 else {
                throw BenchmarkError("\(name) has \(statements.count) partitions that begin on \(Self.month)")
            }
            try EventTables.sql(statements, at: site)
        }
    }

    /// How many events are parked; throws if any other event is in the quarantine.
    private func parked(in quarantine: String, at site: Site) throws -> Int {
        struct Counts: Decodable {
            let events: Int
            let byCode: [String: Int]
        }
        let text = try Child.run(site.sluice, ["quarantine", "stats", "--quarantine", quarantine, "--json"])
        let counts = try JSONDecoder().decode(Counts.self, from: Data(text.utf8))
        guard counts.byCode == ["parked": counts.events], counts.events > 0 else {
            throw BenchmarkError("the quarantine has other events than those of the month: \(counts.byCode)")
        }
        return counts.events
    }
}
