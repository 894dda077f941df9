/// Replay to a relay, compared with a replay of the same events to the Kafka tracker.
struct RelayRow: Row {
    let name = "relay"
    let what = "replay to a relay (mock cluster in a process of its own)"

    private static let events = 1_000_000
    private static let repetitions = 2

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).real(count: Self.events)
        let cluster = try Child("\(site.ceilings)/mock-cluster", ["1", "events", "4", "shared", "4"])
        defer { _ = try? cluster.stop() }
        let brokers = try cluster.firstLine()
        func rate(to tracker: String, _ options: [String]) throws -> Double {
            let files = Array(repeating: file, count: Self.repetitions)
            return try Replay.run(files, to: tracker, options: options, at: site).eventsASecond
        }
        let kafka = Reference.itself("Kafka tracker", target: 0.9) {
            try rate(to: "kafka", ["--kafka", brokers, "--kafka-topic", "events"])
        }
        var measurement = try Measurement(of: self, unit: "messages/s", rounds: site.rounds, with: [kafka]) {
            try rate(to: "relay", ["--relay", "kafka://\(brokers)/shared"])
        }
        measurement.notes = [
            "the relay's messages have one header more, the digest of the plan",
            "\(Self.events * Self.repetitions) messages a round",
        ]
        return measurement
    }
}
