/// A mixed load: many keys, three formats, half of the bodies compressed, and some events rejected.
struct MixedRow: Row {
    let name = "mixed"
    let what = """
        HTTP with a synced journal: \(MixedRequests.keys.count) keys, three formats, \(MixedRequests.events) events a request, every other \
        body compressed, one event in \(MixedRequests.events) rejected
        """

    private static let seconds = 4
    private static let port = 8182

    func measure(at site: Site) throws -> Measurement {
        let file = try MixedRequests(at: site).write()
        var probe = SyncProbe(at: site)
        var times: [Double] = []
        func rate(of server: HTTPServer) throws -> Double {
            func shape(seconds: Int) -> Load.Shape {
                Load.Shape(port: Self.port, connections: 64, content: .requests(file), seconds: seconds)
            }
            return try server.serving(port: Self.port, at: site) { process in
                _ = try Load.run(shape(seconds: 1), at: site)
                let before = try process.processorSeconds()
                let load = try Load.run(shape(seconds: Self.seconds), at: site)
                if server == .busy {
                    times.append((try process.processorSeconds() - before) * 1_000_000 / Double(load.requests))
                }
                return load.requestsASecond
            }
        }
        let bare = HTTPServer.bareNIO.reference(target: 0.15) { try rate(of: .bareNIO) }
        var measurement = try Measurement(of: self, unit: "requests/s", rounds: site.rounds, with: [bare]) {
            try probe.sample()
            return try rate(of: .busy)
        }
        measurement.details = [
            .init(what: "server CPU time per request", value: median(times), unit: "µs"), probe.detail,
            .init(what: "events", value: measurement.ours * Double(MixedRequests.events), unit: "events/s"),
        ]
        measurement.notes = [
            "wrk -t1 -c64 -d\(Self.seconds)s on the same machine; Sluice's own format, Segment's and CloudEvents",
            "the bare handler discards the bodies, and does not decompress them; Sluice stores no rejected events here",
        ]
        return measurement
    }
}
