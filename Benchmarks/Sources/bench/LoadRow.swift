import Foundation

/// Loading a Kafka topic into PostgreSQL: one process, compared with a replay of a file with the same events, or several, compared
/// with one.
struct LoadRow: Row {
    /// How many processes share the topic's partitions.
    var processes = 1

    var name: String { processes == 1 ? "load" : "load-\(processes)" }
    var what: String {
        """
        \(processes == 1 ? "one loader" : "\(processes) loaders") from Kafka (mock cluster in a process of its own) to PostgreSQL, \
        primary key included
        """
    }

    private static let events = 500_000
    private static let topic = "events"
    // The mock cluster keeps 5 MiB for each partition.
    private static let partitions = 16

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).real(count: Self.events)
        try EventTables.make(at: site)
        let cluster = try Child("\(site.ceilings)/mock-cluster", ["1", Self.topic, "\(Self.partitions)"])
        defer { _ = try? cluster.stop() }
        let brokers = try cluster.firstLine()
        // Compressed, so that the cluster keeps all of them.
        let produced = [
            "--kafka", brokers, "--kafka-property", "compression.type=zstd", "--kafka-property", "linger.ms=5",
        ]
        _ = try Replay.run([file], to: "kafka", options: produced, at: site)
        try EventTables.sql([Self.waiting], at: site)
        let replay = Reference.itself("replay of a file", target: 0.9) {
            try EventTables.empty(EventTables.filled, at: site)
            return try Replay.run([file], to: "postgres", options: ["--postgres", site.postgres], at: site)
                .eventsASecond
        }
        // More processes than cores cannot be faster; the row shows what sharing the partitions costs.
        let one = Reference.itself("one loader", target: 0.8) { try load(from: brokers, by: 1, at: site) }
        var measurement = try Measurement(
            of: self,
            unit: "rows/s",
            rounds: site.rounds,
            with: [processes == 1 ? replay : one]
        ) {
            try load(from: brokers, by: processes, at: site)
        }
        measurement.notes = [
            "from the first claim of a partition to the last commit, because joining a group takes the mock cluster 3 s",
            "\(Self.events) events in \(Self.partitions) partitions, a checkpoint before each round",
        ]
        return measurement
    }

    /// A function that waits until all rows are committed, and returns the seconds since the first claim.
    private static let waiting = """
        create or replace function wait_until_loaded(name text, wanted bigint) returns double precision language plpgsql as $$
        declare
            start timestamptz;
            done bigint := 0;
        begin
            while start is null loop
                perform pg_sleep(0.005);
                select min(updated_at) into start from analytics._sluice_loader_offsets where loader = name;
            end loop;
            while done < wanted loop
                perform pg_sleep(0.02);
                select sum(next_offset) into done from analytics._sluice_loader_offsets where loader = name;
            end loop;
            return (
                select extract(epoch from max(updated_at) - start) from analytics._sluice_loader_offsets where loader = name
            );
        end
        $$
        """

    private func load(from brokers: String, by processes: Int, at site: Site) throws -> Double {
        try EventTables.empty(EventTables.filled, at: site)
        let loader = "bench-\(UUID())"
        let members = try (1...processes).map { _ in
            try Child(
                site.sluice,
                [
                    "load", "--from", "kafka://\(brokers)/\(Self.topic)", "--group", loader, "--events", site.plan,
                    "--postgres", site.postgres, "--to", "postgres", "--no-admin", "--log-level", "error",
                ]
            )
        }
        defer { for member in members { _ = try? member.stop() } }
        let said = try EventTables.sql(["select wait_until_loaded('\(loader)', \(Self.events))"], at: site)
        guard let seconds = Double(said.trimmingCharacters(in: .whitespacesAndNewlines)), seconds > 0 else {
            throw BenchmarkError("the loader's time is '\(said)'")
        }
        let counted =
            "select (select count(*) from analytics.item_purchased) + (select count(*) from analytics.item_returned)"
        let rows = try EventTables.sql([counted], at: site)
        guard Int(rows.filter(\.isNumber)) == Self.events else { throw BenchmarkError("\(rows) rows") }
        return Double(Self.events) / seconds
    }
}
