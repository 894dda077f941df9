import Foundation

/// Replay to Kafka, against a C loop around `rd_kafka_produce`.
struct KafkaRow: Row {
    let name = "kafka"
    let what = "replay to Kafka (mock cluster in a process of its own)"

    private static let events = 1_000_000
    private static let topic = "events"
    private static let repetitions = 2
    /// The tracker's own settings of librdkafka, beyond those that the C loop has by itself.
    private static let settings = ["linger.ms=0.3", "socket.nagle.disable=true", "message.timeout.ms=30000"]

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).real(count: Self.events)
        let messages = try canonicalLines(of: file, at: site)
        let cluster = try Child("\(site.ceilings)/mock-cluster", ["1", Self.topic, "4"])
        defer { _ = try? cluster.stop() }
        let brokers = try cluster.firstLine()

        let rounds = try Rounds.alternate(site.rounds) {
            try produce(messages, to: brokers, at: site)
        } ours: {
            try Replay.run(
                Array(repeating: file, count: Self.repetitions),
                to: "kafka",
                options: ["--kafka", brokers],
                at: site
            ).eventsASecond
        }
        // For comparison: what our messages carry beyond their bytes is dear in C, too.
        let keyed = try produce(messages, to: brokers, options: ["-k"], at: site)
        let headed = try produce(messages, to: brokers, options: ["-k", "-H"], at: site)
        return Measurement(
            of: self,
            unit: "messages/s",
            rounds,
            target: 0.5,
            notes: [
                "ceiling: a C loop of rd_kafka_produce with the same bytes and settings, but no keys and no headers",
                "\(Self.events * Self.repetitions) messages a round; ours have a key and six headers each",
                "the same C loop with keys: \(Int(keyed)); with keys and our six headers: \(Int(headed)) messages/s",
            ]
        )
    }

    /// The bytes that our tracker sends, a message a line.
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

    private func produce(
        _ messages: String,
        to brokers: String,
        options: [String] = [],
        at site: Site
    ) throws -> Double {
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
