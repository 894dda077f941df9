/// Events over HTTP to a tracker that discards them.
struct HTTPRow: Row {
    let name: String
    fileprivate let load: RequestKind
    /// The server that is measured.
    fileprivate let server: HTTPServer
    /// The servers that it is compared with, each with the limit for the ratio.
    fileprivate let others: [(server: HTTPServer, target: Double)]

    static let all = [
        HTTPRow(name: "http-single", load: .single, server: .sluice, others: [(.bareNIO, 0.6), (.nginx, 0.45)]),
        HTTPRow(name: "http-batch", load: .batch, server: .sluice, others: [(.bareNIO, 0.2), (.nginx, 0.2)]),
        HTTPRow(name: "metrics-single", load: .single, server: .measured, others: [(.sluice, 0.95)]),
        HTTPRow(name: "metrics-batch", load: .batch, server: .measured, others: [(.sluice, 0.95)]),
        HTTPRow(name: "watched-single", load: .single, server: .watched, others: [(.sluice, 0.95)]),
        HTTPRow(name: "watched-batch", load: .batch, server: .watched, others: [(.sluice, 0.95)]),
        HTTPRow(name: "key-single", load: .single, server: .keyed, others: [(.sluice, 0.85)]),
        HTTPRow(name: "key-batch", load: .batch, server: .keyed, others: [(.sluice, 0.85)]),
        HTTPRow(name: "tls-single", load: .single, server: .encrypted, others: [(.sluice, 0.5)]),
        HTTPRow(name: "durable-single", load: .single, server: .synced, others: [(.bareNIO, 0.5), (.nginx, 0.25)]),
        HTTPRow(name: "durable-batch", load: .batch, server: .synced, others: [(.bareNIO, 0.18), (.nginx, 0.1)]),
        HTTPRow(name: "sync-single", load: .single, server: .synced, others: [(.unsynced, 0.75)]),
        HTTPRow(name: "sync-batch", load: .batch, server: .synced, others: [(.unsynced, 0.75)]),
    ]

    var what: String {
        let journal = server == .synced ? ", synced to the journal before the answer" : ""
        let key = server == .keyed ? ", with a key, its events, its limits and metrics" : ""
        let metrics = server == .measured ? ", with metrics that are written out once a second" : ""
        let watchers = server == .watched ? ", with metrics, a live tail and the dashboard open" : ""
        let port = server == .encrypted ? "HTTPS" : "HTTP"
        let shape = "\(load.what), \(load.connections) connections"
        return "\(port) to a discarding tracker, \(shape)\(journal)\(key)\(metrics)\(watchers)"
    }

    private static let seconds = 4
    private static let port = 8182

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        var rounds: [HTTPServer: [Round]] = [:]
        var probe = SyncProbe(at: site)
        func rate(of server: HTTPServer) throws -> Double {
            let round = try self.round(server, file, at: site)
            rounds[server, default: []].append(round)
            return round.load.requestsASecond
        }
        var measurement = try Measurement(
            of: self,
            unit: "requests/s",
            rounds: site.rounds,
            with: others.map { other in
                other.server.reference(target: other.target) { try rate(of: other.server) }
            }
        ) {
            if server == .synced { try probe.sample() }
            return try rate(of: server)
        }
        measurement.details = details(of: measurement, rounds) + (server == .synced ? [probe.detail] : [])
        measurement.notes = [
            "wrk -t1 -c\(load.connections) -d\(Self.seconds)s on the same machine, \(load.contentType), events of 227 bytes",
            "the servers have \(site.cores) event loops or worker processes each",
        ]
        return measurement
    }

    /// One run against a server.
    private struct Round {
        let load: Load
        /// The server's processor time for each request.
        let microsecondsARequest: Double
        /// The server's peak memory, in MB.
        let memory: Double
    }

    /// Starts a server, sends requests until it is warm, and measures.
    private func round(_ server: HTTPServer, _ file: String, at site: Site) throws -> Round {
        try server.serving(port: Self.port, at: site) { process in
            let watchers = try server.startWatchers(process)
            defer { for watcher in watchers { _ = try? watcher.stop() } }
            _ = try Load.run(shape(file, for: server, seconds: 1), at: site)
            let before = try process.processorSeconds()
            let load = try Load.run(shape(file, for: server, seconds: Self.seconds), at: site)
            let seconds = try process.processorSeconds() - before
            return Round(
                load: load,
                microsecondsARequest: seconds * 1_000_000 / Double(load.requests),
                memory: try process.peakMemory()
            )
        }
    }

    private func details(of measurement: Measurement, _ rounds: [HTTPServer: [Round]]) -> [Measurement.Detail] {
        func middle(_ server: HTTPServer, _ figure: (Round) -> Double) -> Double {
            median(rounds[server, default: []].map(figure))
        }
        let times = ([server] + others.map(\.server)).map { server in
            Measurement.Detail(
                what: "server CPU time per request, \(server.rawValue)",
                value: middle(server) { $0.microsecondsARequest },
                unit: "µs"
            )
        }
        return times + [
            .init(what: "latency, median", value: middle(server) { Double($0.load.medianLatency) }, unit: "µs"),
            .init(what: "latency, 99th percentile", value: middle(server) { Double($0.load.latency99) }, unit: "µs"),
            .init(what: "peak memory", value: middle(server) { $0.memory }, unit: "MB"),
            .init(what: "events", value: measurement.ours * Double(load.events), unit: "events/s"),
        ]
    }

    private func shape(_ file: String, for server: HTTPServer, seconds: Int) -> Load.Shape {
        Load.Shape(
            port: Self.port,
            connections: load.connections,
            content: .events(
                file,
                aRequest: load.events,
                type: load.contentType,
                key: server == .keyed ? HTTPServer.key : nil
            ),
            seconds: seconds,
            isEncrypted: server == .encrypted
        )
    }
}

/// A kind of request that a row's senders send.
struct RequestKind {
    let what: String
    let events: Int
    let connections: Int
    let contentType: String

    static let single = RequestKind(
        what: "one event a request",
        events: 1,
        connections: 64,
        contentType: "application/json"
    )
    static let batch = RequestKind(
        what: "100 events a request",
        events: 100,
        connections: 16,
        contentType: "application/x-ndjson"
    )
}
