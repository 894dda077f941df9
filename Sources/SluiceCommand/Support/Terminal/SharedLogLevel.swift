import Logging
import Synchronization

/// The level of the log, which all loggers of the process share and which can be changed while it runs.
final class SharedLogLevel: Sendable {
    private let level: Atomic<Int>

    init(_ level: Logger.Level) {
        self.level = Atomic(Self.position(of: level))
    }

    var current: Logger.Level {
        get { Logger.Level.allCases[level.load(ordering: .relaxed)] }
        set { level.store(Self.position(of: newValue), ordering: .relaxed) }
    }

    private static func position(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}

/// Logs through another handler what the shared level allows; a logger that was given a level of its own keeps that one.
struct SharedLevelLogHandler: LogHandler {
    private var output: any LogHandler
    private let shared: SharedLogLevel
    private var own: Logger.Level?

    init(_ output: any LogHandler, level: SharedLogLevel) {
        self.output = output
        shared = level
    }

    var logLevel: Logger.Level {
        get { own ?? shared.current }
        set { own = newValue }
    }

    var metadata: Logger.Metadata {
        get { output.metadata }
        set { output.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { output[metadataKey: key] }
        set { output[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { output.log(event: event) }
}
