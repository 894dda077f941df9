/// Replay into tables with a primary key, compared with `psql` loading the same rows into identical tables.
struct PostgresRow: Row {
    let name = "postgres"
    let what = "replay to PostgreSQL, primary key included"

    private static let events = 1_000_000

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).real(count: Self.events)
        try EventTables.make(at: site)
        // The ceiling loads the rows that Sluice loaded, in the same order.
        _ = try load(file, at: site)
        try prepareCeiling(at: site)

        let psql = Reference.ceiling("psql \\copy", target: 0.7) { try copy(at: site) }
        var measurement = try Measurement(of: self, unit: "rows/s", rounds: site.rounds, with: [psql]) {
            try load(file, at: site)
        }
        measurement.notes = [
            "ceiling: psql \\copy … with binary of the same rows in the same order into identical tables",
            "\(Self.events) events, a checkpoint before each round, whole programs measured, start and end included",
        ]
        return measurement
    }

    private func load(_ file: String, at site: Site) throws -> Double {
        try EventTables.empty(EventTables.filled, at: site)
        let replay = try Replay.run([file], to: "postgres", options: ["--postgres", site.postgres], at: site)
        guard replay.delivered == Self.events else { throw BenchmarkError("only \(replay.delivered) rows arrived") }
        return replay.eventsASecond
    }

    private func prepareCeiling(at site: Site) throws {
        try EventTables.make(inSchema: "ceiling", at: site)
        for table in EventTables.names {
            // In the order in which a replay has them.
            try EventTables.sql(
                [
                    """
                    \\copy (select * from analytics.\(table) order by occurred_at) to '\(site.scratch)/\(table).copy' with binary
                    """
                ],
                at: site
            )
        }
    }

    private func copy(at site: Site) throws -> Double {
        try EventTables.empty(EventTables.names.map { "ceiling.\($0)" }, at: site)
        let elapsed = try ContinuousClock().measure {
            try EventTables.sql(
                EventTables.names.map { "\\copy ceiling.\($0) from '\(site.scratch)/\($0).copy' with binary" },
                at: site
            )
        }
        return Double(Self.events) / (elapsed / .seconds(1))
    }
}
