package import MetricDefinitions
import Metrics
import NIOCore

/// The metrics of an endpoint.
///
/// They are made with the metrics factory that is current when the endpoint is made: that of `withMetricsFactory`, else the
/// global one.
package struct HTTPMetrics: Sendable {
    /// The values of the label `dialect`.
    enum DialectLabel: String, CaseIterable {
        case sluice, segment, posthog, cloudevents
        /// Requests that send no events: health checks, settings, the plan, preflights, unknown paths.
        case other
    }

    /// All of them.
    package static let definitions = [requests, durations, loopDelays, connections, bufferedBytes]

    /// The name of the histogram of requests.
    package static var durationsName: String { durations.name }

    private static let requests = MetricDefinition(
        "sluice_http_requests_total",
        .counter,
        labels: ["dialect", "status"],
        help: "Requests that were answered, by the format of their events and the status of the answer"
    )
    private static let durations = MetricDefinition(
        "sluice_http_request_duration_seconds",
        .histogram,
        labels: ["dialect"],
        help: "The time from a request's header to its answer"
    )
    private static let loopDelays = MetricDefinition(
        "sluice_http_event_loop_delay_seconds",
        .histogram,
        help: "How late the event loops run a task that is due, measured once a second in each of them"
    )
    private static let connections = MetricDefinition("sluice_http_connections", .gauge, help: "Open connections")
    private static let bufferedBytes = MetricDefinition(
        "sluice_http_buffered_bytes",
        .gauge,
        help: "The memory in use of http.maximumBufferedBytes"
    )

    private let factory: any MetricsFactory
    private let openConnections: Gauge
    private let bufferedBytes: Gauge

    init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        openConnections = Self.connections.gauge(in: factory)
        bufferedBytes = Self.bufferedBytes.gauge(in: factory)
    }

    /// Records what is known only when somebody asks.
    func record(connections: Int, bufferedBytes: Int) {
        openConnections.record(connections)
        self.bufferedBytes.record(bufferedBytes)
    }

    /// The metrics that one event loop records, without a lock between the loops.
    struct OfLoop {
        /// How often the delay is measured.
        static let delayInterval = TimeAmount.seconds(1)

        private let factory: any MetricsFactory
        private let durations: [DialectLabel: Timer]
        private let sluiceDuration: Timer
        private let delays: Timer
        private let acceptedOne: Counter
        /// The counters by dialect and status.
        private var requests: [DialectLabel: [UInt16: Counter]] = [:]

        fileprivate init(_ factory: any MetricsFactory) {
            self.factory = factory
            let labels = DialectLabel.allCases
            durations = Dictionary(
                uniqueKeysWithValues: labels.map { ($0, HTTPMetrics.durations.timer($0.rawValue, in: factory)) }
            )
            sluiceDuration = HTTPMetrics.durations.timer(DialectLabel.sluice.rawValue, in: factory)
            delays = HTTPMetrics.loopDelays.timer(in: factory)
            acceptedOne = HTTPMetrics.requests.counter(DialectLabel.sluice.rawValue, "200", in: factory)
        }

        /// Counts a single event in Sluice's own format that was accepted.
        func acceptedOne(began: NIODeadline?) {
            acceptedOne.increment()
            guard let began else { return }
            sluiceDuration.recordNanoseconds((NIODeadline.now() - began).nanoseconds)
        }

        /// Counts an answer; `status` begins with the three digits of its code.
        mutating func answered(_ dialect: DialectLabel, _ status: StaticString, began: NIODeadline?) {
            let code = status.withUTF8Buffer { text in
                text.prefix(3).reduce(UInt16(0)) { $0 * 10 + UInt16($1 &- UInt8(ascii: "0")) }
            }
            counter(dialect, code).increment()
            guard let began else { return }
            durations[dialect]?.recordNanoseconds((NIODeadline.now() - began).nanoseconds)
        }

        private mutating func counter(_ dialect: DialectLabel, _ code: UInt16) -> Counter {
            if let counter = requests[dialect]?[code] { return counter }
            let counter = HTTPMetrics.requests.counter(dialect.rawValue, String(code), in: factory)
            requests[dialect, default: [:]][code] = counter
            return counter
        }

        /// Records how late the loop ran a task.
        func delayed(_ delay: TimeAmount) {
            delays.recordNanoseconds(max(0, delay.nanoseconds))
        }
    }

    /// Makes the metrics of another event loop.
    func ofLoop() -> OfLoop { OfLoop(factory) }
}
