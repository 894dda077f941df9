import Logging
import SluiceTesting

/// Collects librdkafka's log, so that a test can wait until a request is in flight.
///
/// The log contains requests only with `properties` in the client's settings.
struct ClientLog: Sendable {
    /// Makes librdkafka log every request, and reconnect at once.
    static let properties = ["debug": "protocol", "reconnect.backoff.ms": "1", "reconnect.backoff.max.ms": "1"]

    private let lines = Watched<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: lines) } }

    /// The number of produce requests that the client has sent.
    var sentProduceRequests: Int { Self.sentProduceRequests(in: lines.value) }

    /// Waits until the client has sent so many produce requests.
    func waitForProduceRequests(_ count: Int) async {
        await lines.wait { Self.sentProduceRequests(in: $0) >= count }
    }

    private static func sentProduceRequests(in lines: [String]) -> Int {
        lines.count { $0.contains("Sent ProduceRequest") }
    }

    private struct Handler: LogHandler {
        let lines: Watched<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = event.metadata?["line"]?.description ?? ""
            lines.update { $0.append(line) }
        }
    }
}
