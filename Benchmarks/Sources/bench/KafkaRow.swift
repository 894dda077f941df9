import Foundation

/// Replay to Kafka, compared with a C loop that calls librdkafka's producer.
struct KafkaRow: Row {
    let name = "kafka"
    let what = "replay to Kafka (mock cluster in a process of its own)"

    private static let events = 1_000_000
    private static let topic = "events"
    private static let repetitions = 2
    /// The tracker's librdkafka settings that the C loop does not set itself.
    private static let settings = ["linger.ms=0.3", "socket.nagle.disable=true", "message.timeout.ms=30000"]

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).real(count: Self.events)
        let messages = try canonicalLines(of: file, at: site)
        let cluster = try Child("\(site.ceilings)/mock-cluster", ["1", Self.topic, "4"])
        defer { _ = try? cluster.stop() }
        let brokers = try cluster.firstLine()

        let ceilings = [
            Reference.ceiling("librdkafka", target: 0.5) { try produce(messages, [], to: brokers, at: site) },
            Reference.ceiling("librdkafka, same key and headers", target: 1) {
                try produce(messages, ["-H"], to: brokers, at: site)
            },
        ]
        var measurement = try Measurement(of: self, unit: "messages/s", rounds: site.rounds, with: ceilings) {
            try Replay.run(
                Array(repeating: file, count: Self.repetitions),
                to: "kafka",
                options: ["--kafka", brokers],
                at: site
            ).eventsASecond
        }
        measurement.notes = [
            "ceilings: a C loop of rd_kafka_produce with the same bytes and settings, without keys and headers;",
            "and one of rd_kafka_producev with the key and the six headers that our messages have",
            "\(Self.events * Self.repetitions) messages a round",
        ]
        return measurement
    }

    /// The messages that the tracker sends, one on each line.
    private func canonicalLines(of file: String, at site: Site) throws -> String {
        let path = "\(site.scratch)/canonical.ndjson"
        let some = "\(site.scratch)/some.ndjson"
        let lines = try Child.run("head", ["-n", "50000", file])
        try Data(lines.utf8).write(to: URL(fileURLWithPath: some))
        let said = try Child.run(
            site.sluice,
            ["replay", some, "--events", site.plan, "--to", "console", "--format", "json", "--log-level", "error"]
        )
        let events = said.split(separator: "\n").filter { $0.hasPrefix(#"{"id":"#) }
        guard events.count == 50_000 else { throw BenchmarkError("the console gave \(events.count) events") }
        try Data(events.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func produce(_ messages: String, _ options: [String], to brokers: String, at site: Site) throws -> Double {
        let settings = Self.settings.flatMap { ["-X", $0] }
        let count = String(Self.events * Self.repetitions)
        let said = try Child.run(
            "\(site.ceilings)/kafka-produce",
            settings + options + [brokers, Self.topic, count, messages]
        )
        guard let figure = said.split(separator: " ").first.flatMap({ Double($0) }) else {
            throw BenchmarkError("kafka-produce said: \(said)")
        }
        return figure
    }
}
