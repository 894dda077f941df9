import MetricDefinitions
import Metrics
import Synchronization

/// The metrics of a member.
struct LoaderMetrics: Sendable {
    private struct Gauges: Sendable {
        let assigned: Gauge
        let next: Gauge
        let lag: Gauge
        let age: Gauge
        let halted: Gauge
    }

    private final class Known: Sendable {
        let gauges = Mutex<[Int32: Gauges]>([:])
    }

    private let tracker: String
    private let factory: any MetricsFactory
    private let loaded: Counter
    private let refused: Counter
    private let forgotten: Counter
    private let skipped: Counter
    private let failing: Gauge
    private let known = Known()

    init(tracker: String, factory: any MetricsFactory = MetricsSystem.factory) {
        self.tracker = tracker
        self.factory = factory
        loaded = LoaderMetricDefinitions.loaded.counter(tracker, in: factory)
        refused = LoaderMetricDefinitions.refused.counter(tracker, in: factory)
        forgotten = LoaderMetricDefinitions.forgotten.counter(tracker, in: factory)
        skipped = LoaderMetricDefinitions.skipped.counter(tracker, in: factory)
        failing = LoaderMetricDefinitions.failing.gauge(tracker, in: factory)
    }

    func count(loaded: Int, refused: Int) {
        self.loaded.increment(by: loaded)
        self.refused.increment(by: refused)
    }

    func count(forgotten: Int) {
        self.forgotten.increment(by: forgotten)
    }

    func count(skipped: Int) {
        self.skipped.increment(by: skipped)
    }

    /// Records the values of partitions; `now` is in milliseconds since 1970.
    func record(_ partitions: [Int32: MemberStatus.Partition], isFailing: Bool, now: Int64) {
        failing.record(isFailing ? 1 : 0)
        let gauges = known.gauges.withLock { known in
            for number in partitions.keys where known[number] == nil { known[number] = makeGauges(number) }
            return known
        }
        for (number, gauges) in gauges {
            let partition = partitions[number]
            gauges.assigned.record(partition == nil ? 0 : 1)
            gauges.halted.record(partition?.halt == nil ? 0 : 1)
            guard let partition else {
                for gauge in [gauges.next, gauges.lag, gauges.age] { gauge.record(0) }
                continue
            }
            // What is not known keeps its last value.
            if let next = partition.next { gauges.next.record(next) }
            guard let lag = partition.lag else { continue }
            gauges.lag.record(lag)
            if let age = lag == 0 ? 0 : partition.ageInSeconds(now: now) { gauges.age.record(age) }
        }
    }

    private func makeGauges(_ number: Int32) -> Gauges {
        Gauges(
            assigned: LoaderMetricDefinitions.assigned.gauge(tracker, "\(number)", in: factory),
            next: LoaderMetricDefinitions.next.gauge(tracker, "\(number)", in: factory),
            lag: LoaderMetricDefinitions.lag.gauge(tracker, "\(number)", in: factory),
            age: LoaderMetricDefinitions.age.gauge(tracker, "\(number)", in: factory),
            halted: LoaderMetricDefinitions.halted.gauge(tracker, "\(number)", in: factory)
        )
    }
}

extension MemberStatus.Partition {
    /// How long ago the oldest record was written that is not loaded; `nil` if there is none, or if it has not been read.
    package func ageInSeconds(now: Int64) -> Double? {
        guard lag != 0, let oldest else { return nil }
        return Double(max(0, now - oldest)) / 1000
    }
}
