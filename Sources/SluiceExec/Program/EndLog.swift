import EventModel
import Logging
import TrackerKit

/// Reports the ends of programs that failed: to the log, where a program that fails again and again is summed up, and in sentences.
struct EndLog {
    private let tracker: String
    private let logger: Logger
    private var ends = FailureEpisode()

    init(tracker: String, logger: Logger) {
        self.tracker = tracker
        self.logger = logger
    }

    /// Reports how a program has ended; returns sentences about that.
    mutating func report(
        _ message: Logger.Message,
        of program: ChildProcess,
        _ end: ChildProcess.End,
        because error: TrackerError,
        now: Duration
    ) -> [String] {
        let lines = program.lastErrorLines()
        if let summary = ends.failed(because: "\(error) \(end.words)", now: now) {
            logger.warning(
                message,
                metadata: [
                    "tracker": "\(tracker)", "end": "\(end.words)", "error": "\(error)", "ends": "\(summary.count)",
                    "lastLines": "\(lines.joined(separator: " | "))",
                ]
            )
        }
        return ["Its end: \(end.words)."] + (lines.last.map { ["Its last line on standard error: \($0)"] } ?? [])
    }

    /// Notes that the program has delivered something.
    mutating func noteSuccess(now: Duration) {
        _ = ends.ended(now: now)
    }
}
