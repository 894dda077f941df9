import CLibRDKafka
import EventModel
package import Logging
import Synchronization

/// Forwards librdkafka's log to swift-log, from whatever thread it comes; problems are summed up by facility.
package final class KafkaLog: Sendable {
    /// The maximum number of facilities whose problems are summed up separately; librdkafka has about 40.
    private static let maximumFacilities = 64

    private struct State {
        var lastProblem: String?
        var problems: [String: FailureEpisode] = [:]
    }

    /// Texts that tell why a broker cannot be used; librdkafka logs all of them with the same facility.
    private static let reasons = [
        "resolve", "refused", "unreachable", "handshake", "certificate", "authentic", "timed out", "disconnected",
    ]

    private let logger: Logger
    private let clock = RelativeClock(ContinuousClock())
    private let state = Mutex(State())

    /// The last error that librdkafka logged, to explain why no broker can be reached.
    var lastError: String? { state.withLock { $0.lastProblem } }

    package init(logger: Logger) {
        self.logger = logger
    }

    /// Registers for the log of the client that is created from `configuration`.
    ///
    /// The client's threads use the log, so call `letGo` only once they have ended, or if no client was created.
    func listen(to configuration: OpaquePointer) {
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passRetained(self).toOpaque())  // released by `letGo`
        rd_kafka_conf_set_log_cb(configuration) { client, severity, facility, line in
            guard let client, let opaque = rd_kafka_opaque(client), let line else { return }
            let log = Unmanaged<KafkaLog>.fromOpaque(opaque).takeUnretainedValue()
            log.take(
                severity: severity,
                facility: facility.map { String(cString: $0) } ?? "",
                line: String(cString: line)
            )
        }
    }

    /// Releases the reference that `listen` made.
    func letGo() {
        Unmanaged.passUnretained(self).release()
    }

    /// Logs a line of librdkafka.
    package func take(severity: Int32, facility: String, line: String) {
        guard severity > 4 else { return takeProblem(facility, line) }
        let level: Logger.Level = severity < 7 ? .debug : .trace
        logger.log(level: level, "librdkafka has logged.", metadata: ["facility": "\(facility)", "line": "\(line)"])
    }

    private func takeProblem(_ facility: String, _ line: String) {
        let summary = state.withLock { state in
            state.lastProblem = line
            let isKnown = state.problems[facility] != nil || state.problems.count < Self.maximumFacilities
            return state.problems[isKnown ? facility : "", default: FailureEpisode()]
                .failed(because: Self.reason(in: line), now: clock.now())
        }
        guard let summary else { return }
        // librdkafka logs a lost connection as an error, but operators need to know only if the tracker says that it matters.
        logger.info(
            "librdkafka reported an error; deliveries that it affects are retried.",
            metadata: ["facility": "\(facility)", "line": "\(line)", "lines": "\(summary.count)"]
        )
    }
    /// The kind of failure that a line reports, without the broker and other values.
    private static func reason(in line: String) -> String {
        let text = line.lowercased()
        return reasons.first { text.contains($0) } ?? ""
    }
}
