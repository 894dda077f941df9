/// The result of one run of wrk against a server.
struct Load {
    let requests: Int
    let requestsASecond: Double
    /// Responses with an error status.
    let refused: Int
    /// Requests that got no response.
    let unanswered: Int
    /// In microseconds.
    let medianLatency: Int
    /// In microseconds.
    let latency99: Int

    /// How the load is generated.
    struct Shape {
        let port: Int
        let connections: Int
        let eventsARequest: Int
        let contentType: String
        let file: String
        let seconds: Int
        /// The write key, if the server needs one.
        var key: String?
        /// Whether the server speaks TLS.
        var isEncrypted = false
    }

    /// Sends events for some seconds and throws unless all are accepted, because the figure would mean nothing.
    static func run(_ shape: Shape, at site: Site) throws -> Load {
        let load = try offer(shape, at: site)
        guard load.refused == 0, load.unanswered == 0 else {
            throw BenchmarkError("\(load.refused) requests were refused, \(load.unanswered) got no answer")
        }
        return load
    }

    /// Sends events for some seconds, whether they are accepted or not.
    static func offer(_ shape: Shape, at site: Site) throws -> Load {
        let said = try Child.run(
            "wrk",
            [
                "-t1", "-c\(shape.connections)", "-d\(shape.seconds)s", "--timeout", "10s", "-s", site.loadScript,
                "\(shape.isEncrypted ? "https" : "http")://127.0.0.1:\(shape.port)/v1/events", "--",
                shape.file, String(shape.eventsARequest), shape.contentType,
            ] + (shape.key.map { [$0] } ?? [])
        )
        let line = said.split(separator: "\n").first { $0.hasPrefix("load: ") }
        let figures = (line ?? "").split(separator: " ").compactMap { Int($0) }
        guard figures.count == 6, figures[1] > 0 else { throw BenchmarkError("wrk said: \(said)") }
        return Load(
            requests: figures[0],
            requestsASecond: Double(figures[0]) / (Double(figures[1]) / 1_000_000),
            refused: figures[2],
            unanswered: figures[3],
            medianLatency: figures[4],
            latency99: figures[5]
        )
    }
}
