import Foundation

/// Requests that are answered once the brokers have their events, compared with those that are answered once the journal has them.
struct RelayAcknowledgeRow: Row {
    let name: String
    private let connections: Int
    private let eventsARequest: Int
    private let contentType: String
    private let target: Double

    static let all = [
        RelayAcknowledgeRow(
            name: "relay-brokers-single",
            connections: 64,
            eventsARequest: 1,
            contentType: "application/json",
            target: 0.3
        ),
        RelayAcknowledgeRow(
            name: "relay-brokers-batch",
            connections: 16,
            eventsARequest: 100,
            contentType: "application/x-ndjson",
            target: 0.3
        ),
    ]

    var what: String {
        let events = eventsARequest == 1 ? "one event" : "\(eventsARequest) events"
        return "HTTP to a relay, acknowledged by 3 brokers with a round-trip time of \(Self.roundTrip) ms, "
            + "\(events) a request, \(connections) connections"
    }

    /// In milliseconds.
    private static let roundTrip = 1
    private static let seconds = 4
    private static let port = 8186

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        // A topic that the cluster creates has as many replicas as there are brokers.
        let cluster = try Child("\(site.ceilings)/mock-cluster", ["-r", "\(Self.roundTrip)", "3"])
        defer { _ = try? cluster.stop() }
        let relay = "kafka://\(try cluster.firstLine())/shared"
        var latencies: [String: [Load]] = [:]
        func rate(_ acknowledge: String) throws -> Double {
            let load = try round(file, relay: relay, acknowledge: acknowledge, at: site)
            latencies[acknowledge, default: []].append(load)
            return load.requestsASecond
        }
        var measurement = try Measurement(
            of: self,
            unit: "requests/s",
            rounds: site.rounds,
            with: [.itself("acknowledged by the journal", target: target) { try rate("journal") }]
        ) {
            try rate("brokers")
        }
        measurement.details = ["journal", "brokers"].flatMap { acknowledge in
            let loads = latencies[acknowledge, default: []]
            return [
                Measurement.Detail(
                    what: "latency, median, \(acknowledge)",
                    value: median(loads.map { Double($0.medianLatency) }),
                    unit: "µs"
                ),
                Measurement.Detail(
                    what: "latency, 99th percentile, \(acknowledge)",
                    value: median(loads.map { Double($0.latency99) }),
                    unit: "µs"
                ),
            ]
        }
        measurement.notes = [
            "both sides write the synced journal and relay every event; they differ in what the answer waits for",
            "wrk -t1 -c\(connections) -d\(Self.seconds)s, events of 227 bytes; the mock brokers delay every answer by "
                + "\(Self.roundTrip) ms, and replicate nothing",
        ]
        return measurement
    }

    /// Starts a server, sends requests until it is warm, and measures.
    private func round(_ file: String, relay: String, acknowledge: String, at site: Site) throws -> Load {
        let folder = "\(site.scratch)/relay"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let settings = "relay:\n  url: \(relay)\n  acknowledge: \(acknowledge)\n"
        try settings.write(toFile: "\(folder)/sluice.yaml", atomically: true, encoding: .utf8)
        let server = try Child(
            site.sluice,
            [
                "serve", "--listen", "127.0.0.1:\(Self.port)", "--events", site.plan, "--no-admin",
                "--log-level", "critical", "--config", "\(folder)/sluice.yaml",
                "--journal", "\(folder)/journal", "--quarantine", "\(folder)/quarantine",
            ]
        )
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: Self.port)
        // Until the relay has started, requests are refused.
        _ = try Load.offer(shape(file, seconds: 1), at: site)
        return try Load.run(shape(file, seconds: Self.seconds), at: site)
    }

    private func shape(_ file: String, seconds: Int) -> Load.Shape {
        Load.Shape(
            port: Self.port,
            connections: connections,
            content: .events(file, aRequest: eventsARequest, type: contentType),
            seconds: seconds
        )
    }
}
