import Logging
import Synchronization

/// The importance of a log line.
public enum TrackingLogLevel: Sendable {
    /// Details for finding bugs in this library.
    case verbose
    /// Messages of the pipeline that this library uses.
    case debug
    /// Normal operation.
    case info
    /// Failures.
    case error
}

/// Collects the pipelines' log lines until the app calls this library again.
///
/// The app's closure is called only on threads that call `EventTracking`, as in the original JustTrack, so it need not be
/// thread-safe. Until then the last 100 lines are kept.
final class LogRelay: Sendable {
    private static let capacityInLines = 100

    private let lines = Mutex<[(text: String, level: TrackingLogLevel)]>([])

    /// A logger that adds its lines here.
    var logger: Logger { Logger(label: "JustTrack") { _ in Handler(relay: self) } }

    /// Adds a line, and removes the oldest one if there are too many.
    func add(_ text: String, _ level: TrackingLogLevel) {
        lines.withLock { lines in
            if lines.count == Self.capacityInLines { lines.removeFirst() }
            lines.append((text, level))
        }
    }

    /// The lines since the last call.
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
    /// The engine's information is debug output for an app.
    fileprivate init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace, .debug: .verbose
            case .info, .notice: .debug
            case .warning, .error, .critical: .error
            }
    }
}
