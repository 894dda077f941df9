import CoreMetrics
import MetricDefinitions
import Synchronization

/// One series of a metric: what swift-metrics records into, and what the exposition reads.
protocol MetricValue: Sendable {
    /// Appends the series' lines.
    func write(_ name: String, _ labels: SeriesLabels, to text: inout PrometheusText)
}

/// A counter of whole numbers, which takes no lock.
final class CounterValue: CounterHandler, MetricValue {
    private let sum = Atomic<Int64>(0)

    var value: Int { Int(sum.load(ordering: .relaxed)) }

    func increment(by amount: Int64) {
        if amount > 0 { sum.wrappingAdd(amount, ordering: .relaxed) }
    }

    func reset() {
        sum.store(0, ordering: .relaxed)
    }

    func write(_ name: String, _ labels: SeriesLabels, to text: inout PrometheusText) {
        text.add(name, labels, value: String(sum.load(ordering: .relaxed)))
    }
}

/// A counter of fractions.
final class FractionalCounterValue: FloatingPointCounterHandler, MetricValue {
    private let sum = Mutex(0.0)

    func increment(by amount: Double) {
        if amount > 0 { sum.withLock { $0 += amount } }
    }

    func reset() {
        sum.withLock { $0 = 0 }
    }

    func write(_ name: String, _ labels: SeriesLabels, to text: inout PrometheusText) {
        text.add(name, labels, value: PrometheusText.number(sum.withLock { $0 }))
    }
}

/// A gauge.
final class GaugeValue: RecorderHandler, MeterHandler, MetricValue {
    private let value = Mutex(0.0)

    func record(_ value: Int64) {
        record(Double(value))
    }

    func record(_ value: Double) {
        self.value.withLock { $0 = value }
    }

    func set(_ value: Int64) {
        record(Double(value))
    }

    func set(_ value: Double) {
        record(value)
    }

    func increment(by amount: Double) {
        value.withLock { $0 += amount }
    }

    func decrement(by amount: Double) {
        value.withLock { $0 -= amount }
    }

    func write(_ name: String, _ labels: SeriesLabels, to text: inout PrometheusText) {
        text.add(name, labels, value: PrometheusText.number(value.withLock { $0 }))
    }
}

/// A histogram of durations in seconds, with fixed buckets.
///
/// It has a lock, so that the buckets, the sum and the count of one exposition belong together.
final class HistogramValue: TimerHandler, MetricValue {
    private struct State {
        /// One for each upper bound, and one for what is longer.
        var counts = Array(repeating: 0, count: MetricDefinition.upperBoundsInSeconds.count + 1)
        var sum = 0.0
    }

    private let state = Mutex(State())

    /// The number of values in each bucket.
    var counts: [Int] { state.withLock(\.counts) }

    /// The upper bound of a bucket, in seconds; for the last one, which has none, twice the greatest of the others.
    static func upperBound(ofBucket bucket: Int) -> Double {
        let bounds = MetricDefinition.upperBoundsInSeconds
        return bucket < bounds.count ? bounds[bucket] : 2 * bounds[bounds.count - 1]
    }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(max(0, duration)) / 1e9
        let bounds = MetricDefinition.upperBoundsInSeconds
        let bucket = bounds.firstIndex { seconds <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += seconds
        }
    }

    func write(_ name: String, _ labels: SeriesLabels, to text: inout PrometheusText) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total = 0
        for (bound, count) in zip(MetricDefinition.upperBoundsInSeconds.map(PrometheusText.number) + ["+Inf"], counts) {
            total += count
            text.add(name + "_bucket", labels.adding("le", bound), value: String(total))
        }
        text.add(name + "_sum", labels, value: PrometheusText.number(sum))
        text.add(name + "_count", labels, value: String(total))
    }
}

/// The sum and the number of recorded values whose unit is unknown; libraries record them.
final class SummaryValue: RecorderHandler, MetricValue {
    private let state = Mutex((sum: 0.0, count: 0))

    func record(_ value: Int64) {
        record(Double(value))
    }

    func record(_ value: Double) {
        state.withLock { state in
            state.sum += value
            state.count += 1
        }
    }

    func write(_ name: String, _ labels: SeriesLabels, to text: inout PrometheusText) {
        let (sum, count) = state.withLock { $0 }
        text.add(name + "_sum", labels, value: PrometheusText.number(sum))
        text.add(name + "_count", labels, value: String(count))
    }
}
