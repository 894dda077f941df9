import CLibRDKafka
import Logging
import Synchronization

/// Forwards librdkafka's log to swift-log, from whatever thread it comes.
final class KafkaLog: Sendable {
    private let logger: Logger
    private let lastProblem = Mutex<String?>(nil)

    /// The last error that librdkafka logged, to explain why no broker can be reached.
    var lastError: String? { lastProblem.withLock { $0 } }

    init(logger: Logger) {
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

    private func take(severity: Int32, facility: String, line: String) {
        if severity <= 4 { lastProblem.withLock { $0 = line } }
        // librdkafka logs a lost connection as an error, but operators need to know only if the tracker says that it matters.
        let level: Logger.Level =
            switch severity {
            case ...4: .info
            case 5, 6: .debug
            default: .trace
            }
        logger.log(level: level, "librdkafka: \(line)", metadata: ["facility": "\(facility)"])
    }
}
