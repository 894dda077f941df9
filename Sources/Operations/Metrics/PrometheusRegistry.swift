public import CoreMetrics
import MetricDefinitions
import Synchronization

/// Keeps the metrics of a process, and writes them in Prometheus' text format.
///
/// It is a factory for swift-metrics. Bootstrap `MetricsSystem` with it once, before anything makes a metric, so that it gets the
/// metrics of all libraries, or make a pipeline within `withMetricsFactory`, so that it gets only those.
///
/// Counting takes no lock and no memory; a histogram has a lock of its own. Names and labels that Prometheus does not accept are
/// changed to similar ones. At most `maximumSeries` series are kept: what would be a further one is not recorded, and is counted
/// in `sluice_metrics_dropped_series_total`.
public final class PrometheusRegistry: MetricsFactory {
    /// The default of `maximumSeries`: 50,000.
    public static let defaultMaximumSeries = 50_000

    private static let dropped = MetricDefinition(
        "sluice_metrics_dropped_series_total",
        .counter,
        help:
            "Series that are not exported, because there are too many, or because of an earlier metric of the same name"
    )
    private static let definitions = Dictionary(
        uniqueKeysWithValues: (MetricCatalog.all + [dropped]).map { ($0.name, $0) }
    )
    static let ownDefinitions = [dropped]

    /// The types of the text format.
    private enum Kind: String {
        case counter, gauge, histogram, summary
    }

    /// A metric with all its series.
    private struct Family {
        let kind: Kind
        var series: [SeriesLabels: any MetricValue] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
    }

    private let maximumSeries: Int
    private let state = Mutex(State())
    private let droppedSeries = CounterValue()

    /// Makes an empty registry.
    public init(maximumSeries: Int = PrometheusRegistry.defaultMaximumSeries) {
        self.maximumSeries = maximumSeries
    }

    // MARK: The factory

    /// Returns the counter with these labels.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        value(.counter, label, dimensions, make: CounterValue.init)
    }

    /// Returns the counter of fractions with these labels.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        value(.counter, label, dimensions, make: FractionalCounterValue.init)
    }

    /// Returns the gauge with these labels.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        value(.gauge, label, dimensions, make: GaugeValue.init)
    }

    /// Returns the gauge with these labels or, if `aggregate`, the sum and the number of the recorded values.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        aggregate
            ? value(.summary, label, dimensions, make: SummaryValue.init)
            : value(.gauge, label, dimensions, make: GaugeValue.init)
    }

    /// Returns the histogram with these labels, in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        value(.histogram, label, dimensions, make: HistogramValue.init)
    }

    /// Keeps the counter, because Prometheus expects a series to stay.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Keeps the counter.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Keeps the gauge.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Keeps the gauge.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Keeps the histogram.
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func value<Value: MetricValue>(
        _ kind: Kind,
        _ label: String,
        _ dimensions: [(String, String)],
        make: () -> Value
    ) -> Value {
        let (name, labels) = (PrometheusText.metricName(label), SeriesLabels(dimensions))
        let kept: Value? = state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind)
            if let value = family.series[labels] { return value as? Value }
            guard family.kind == kind, state.seriesCount < maximumSeries else { return nil }
            let value = make()
            family.series[labels] = value
            state.families[name] = family
            state.seriesCount += 1
            return value
        }
        if let kept { return kept }
        droppedSeries.increment(by: 1)
        return make()
    }

    // MARK: Reading

    /// The sum of all series of a counter.
    func sum(of name: String) -> Int {
        series(of: name).reduce(0) { $0 + (($1 as? CounterValue)?.value ?? 0) }
    }

    /// The number of values in each bucket of a histogram, in all its series together.
    func buckets(of name: String) -> [Int] {
        series(of: name).compactMap { ($0 as? HistogramValue)?.counts }.reduce(into: []) { sums, counts in
            if sums.isEmpty { sums = counts } else { for index in sums.indices { sums[index] += counts[index] } }
        }
    }

    private func series(of name: String) -> [any MetricValue] {
        state.withLock { $0.families[name].map { Array($0.series.values) } ?? [] }
    }

    // MARK: The exposition

    /// All metrics in Prometheus' text format, version 0.0.4, ordered by name and labels.
    ///
    /// Metrics that are known only when somebody asks have to be recorded before: see `Pipeline.recordGauges`.
    public var text: String {
        let families = state.withLock { $0.families }
        var text = PrometheusText()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text.begin(name, type: family.kind.rawValue, help: Self.definitions[name]?.help)
            for (labels, value) in family.series.sorted(by: { $0.key.text < $1.key.text }) {
                value.write(name, labels, to: &text)
            }
        }
        text.begin(Self.dropped.name, type: Kind.counter.rawValue, help: Self.dropped.help)
        droppedSeries.write(Self.dropped.name, SeriesLabels([]), to: &text)
        return text.text
    }
}
