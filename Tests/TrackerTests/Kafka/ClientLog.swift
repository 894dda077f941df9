import Logging
import SluiceTesting

/// What librdkafka says of its own work, so that a test can wait for a request that is on its way.
///
/// It says that much only with `properties` in its settings.
struct ClientLog: Sendable {
    /// Makes librdkafka tell of every request, and connect again at once.
    static let properties = ["debug": "protocol", "reconnect.backoff.ms": "1", "reconnect.backoff.max.ms": "1"]

    private let lines = Watched<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: lines) } }

    /// How many requests with events the client has sent.
    var sentProduceRequests: Int { Self.sentProduceRequests(in: lines.value) }

    /// Waits until the client has sent so many requests with events.
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
            let line = event.message.description
            lines.update { $0.append(line) }
        }
    }
}
