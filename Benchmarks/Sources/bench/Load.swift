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

    /// What is sent.
    enum Content {
        /// The events of a file, a number of them in each request, with a write key if the server needs one.
        case events(String, aRequest: Int, type: String, key: String? = nil)
        /// The requests of `MixedRequests`.
        case requests(String)

        /// The arguments of the script.
        fileprivate var arguments: [String] {
            switch self {
            case .events(let file, let count, let type, let key):
                [file, String(count), type] + (key.map { [$0] } ?? [])
            case .requests(let file): [file]
            }
        }
    }

    /// How the load is generated.
    struct Shape {
        let port: Int
        let connections: Int
        let content: Content
        let seconds: Int
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
            ] + shape.content.arguments
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
