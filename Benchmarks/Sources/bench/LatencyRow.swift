/// How long senders wait for answers when the server gets half as many requests as it could answer.
///
/// Requests are sent at fixed times, so a server that stands still delays all that are due meanwhile, as it delays real senders.
struct LatencyRow: Row {
    let name: String
    fileprivate let server: HTTPServer
    fileprivate let target: Double

    static let all = [
        LatencyRow(name: "latency", server: .sluice, target: 3),
        LatencyRow(name: "latency-durable", server: .synced, target: 15),
    ]

    var what: String {
        let journal = server == .synced ? ", synced to the journal before the answer" : ""
        return "99th percentile of the latency of one event at half of the highest rate\(journal)"
    }

    private static let seconds = 4
    private static let connections = 64
    private static let port = 8182

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        let rate = try highestRate(file, at: site) / 2
        var latencies: [HTTPServer: [PacedLoad]] = [:]
        var probe = SyncProbe(at: site)
        func latency(of server: HTTPServer) throws -> Double {
            func load(seconds: Int) throws -> PacedLoad {
                try PacedLoad.run(file, port: Self.port, Self.connections, rate: rate, seconds: seconds, at: site)
            }
            let load = try server.serving(port: Self.port, at: site) { _ in
                _ = try load(seconds: 1)
                return try load(seconds: Self.seconds)
            }
            latencies[server, default: []].append(load)
            return load.percentile99
        }
        var measurement = try Measurement(
            of: self,
            unit: "µs",
            rounds: site.rounds,
            goal: .atMost,
            with: [HTTPServer.bareNIO.reference(target: target) { try latency(of: .bareNIO) }]
        ) {
            if server == .synced { try probe.sample() }
            return try latency(of: server)
        }
        measurement.details = [server, .bareNIO].flatMap { server in
            Self.details(of: server, latencies[server, default: []])
        }
        if server == .synced { measurement.details.append(probe.detail) }
        measurement.notes = [
            "\(Int(rate)) requests/s over at most \(Self.connections) connections, each due at its time, answered or not"
        ]
        return measurement
    }

    /// How many requests the server answers in a second, if each connection waits for nothing but its answer.
    private func highestRate(_ file: String, at site: Site) throws -> Double {
        func shape(seconds: Int) -> Load.Shape {
            Load.Shape(
                port: Self.port,
                connections: Self.connections,
                content: .events(file, aRequest: 1, type: "application/json"),
                seconds: seconds
            )
        }
        return try server.serving(port: Self.port, at: site) { _ in
            _ = try Load.run(shape(seconds: 1), at: site)
            return try Load.run(shape(seconds: Self.seconds), at: site).requestsASecond
        }
    }

    private static func details(of server: HTTPServer, _ loads: [PacedLoad]) -> [Measurement.Detail] {
        [
            .init(what: "median, \(server.rawValue)", value: median(loads.map(\.median)), unit: "µs"),
            .init(what: "99.9th percentile, \(server.rawValue)", value: median(loads.map(\.percentile999)), unit: "µs"),
            .init(what: "maximum, \(server.rawValue)", value: median(loads.map(\.maximum)), unit: "µs"),
        ]
    }
}

/// The latencies of requests that were sent at a fixed rate, in microseconds.
private struct PacedLoad {
    let median: Double
    let percentile99: Double
    let percentile999: Double
    let maximum: Double

    /// Sends requests with one event each; throws unless all are answered with 200.
    static func run(
        _ file: String,
        port: Int,
        _ connections: Int,
        rate: Double,
        seconds: Int,
        at site: Site
    ) throws -> PacedLoad {
        let said = try Child.run(
            "\(site.ceilings)/paced-load",
            [String(port), file, "1", "application/json", String(connections), String(Int(rate)), String(seconds)]
        )
        let figures = said.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard figures.count == 5 else { throw BenchmarkError("paced-load said: \(said)") }
        return PacedLoad(median: figures[1], percentile99: figures[2], percentile999: figures[3], maximum: figures[4])
    }
}
