import CLibRDKafka
import Logging
import Synchronization

/// Where librdkafka's own log goes: to swift-log, on whatever thread it comes from.
final class KafkaLog: Sendable {
    private let logger: Logger
    private let lastProblem = Mutex<String?>(nil)

    /// The last error that librdkafka logged, for a sentence about why no broker is to be had.
    var lastError: String? { lastProblem.withLock { $0 } }

    init(logger: Logger) {
        self.logger = logger
    }

    /// Hears of every line of a client that will be made of `configuration`.
    ///
    /// The client's threads hold the log: `letGo` once they have ended, or when no client was made.
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

    /// Ends what `listen` began.
    func letGo() {
        Unmanaged.passUnretained(self).release()
    }

    private func take(severity: Int32, facility: String, line: String) {
        if severity <= 4 { lastProblem.withLock { $0 = line } }
        // A lost connection is librdkafka's error, but no news to an operator before the tracker says that it matters.
        let level: Logger.Level =
            switch severity {
            case ...4: .info
            case 5, 6: .debug
            default: .trace
            }
        logger.log(level: level, "librdkafka: \(line)", metadata: ["facility": "\(facility)"])
    }
}
