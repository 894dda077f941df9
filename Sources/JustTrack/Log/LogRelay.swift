import Logging
import Synchronization

/// The importance of a log line.
public enum TrackingLogLevel: Sendable {
    /// Details for finding bugs in this library.
    case verbose
    /// Messages of the pipeline behind this library.
    case debug
    /// Normal operation.
    case info
    /// Failures.
    case error
}

/// Collects what the engine has to say until the app calls this library again.
///
/// The app's closure is called on the threads that call `EventTracking`, as ever, and on no other: it need not be made for
/// more. So what the engine's threads say waits, the last 100 lines of it.
final class LogRelay: Sendable {
    private static let capacityInLines = 100

    private let lines = Mutex<[(text: String, level: TrackingLogLevel)]>([])

    /// A logger whose lines come here.
    var logger: Logger { Logger(label: "JustTrack") { _ in Handler(relay: self) } }

    /// Adds a line; where there is no room the oldest goes.
    func add(_ text: String, _ level: TrackingLogLevel) {
        lines.withLock { lines in
            if lines.count == Self.capacityInLines { lines.removeFirst() }
            lines.append((text, level))
        }
    }

    /// What was said since the last call.
    func takeLines() -> [(text: String, level: TrackingLogLevel)] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private struct Handler: LogHandler {
        let relay: LogRelay
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).map { " \($0)=\($1)" }.sorted().joined()
            relay.add("\(event.message)\(details)", TrackingLogLevel(event.level))
        }
    }
}

extension TrackingLogLevel {
    /// The engine says as information what is only its own affair.
    fileprivate init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace, .debug: .verbose
            case .info, .notice: .debug
            case .warning, .error, .critical: .error
            }
    }
}
