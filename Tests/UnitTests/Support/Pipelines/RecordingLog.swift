package import Logging
import Synchronization

/// A log that a test can read.
package final class RecordingLog: Sendable {
    private let lines = Mutex<[(level: Logger.Level, text: String)]>([])

    package init() {}

    /// The logged errors: each message, followed by its metadata as `key=value`, sorted.
    package var errors: [String] { lines.withLock { $0.filter { $0.level >= .error }.map(\.text) } }

    /// The log lines of all levels, in the same form.
    package var all: [String] { lines.withLock { $0.map(\.text) } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ event: LogEvent) {
        let metadata = (event.metadata ?? [:]).map { " \($0)=\($1)" }.sorted().joined()
        lines.withLock { $0.append((event.level, "\(event.message)\(metadata)")) }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.add(event) }
    }
}
