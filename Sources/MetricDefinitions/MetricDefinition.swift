package import Metrics

/// A metric as its component records it, and as `/metrics` and the documentation describe it.
///
/// Names follow Prometheus' conventions: base units at the end of the name, and `_total` for counters
/// (<https://prometheus.io/docs/practices/naming/>).
package struct MetricDefinition: Sendable, Hashable {
    /// What the numbers mean.
    package enum Kind: String, Sendable, Hashable {
        /// A sum that only grows while the process runs.
        case counter
        /// A value that rises and falls.
        case gauge
        /// Durations, counted in buckets.
        case histogram
    }

    /// The upper bounds of all histograms' buckets, in seconds, in ascending order; a last bucket holds what is longer.
    ///
    /// From a sync of a fast disk to a delivery that waits for a timeout.
    package static let upperBoundsInSeconds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]

    package let name: String
    package let kind: Kind
    /// The names of the labels.
    package let labels: [String]
    /// What is measured, in one sentence without a full stop.
    package let help: String

    package init(_ name: String, _ kind: Kind, labels: [String] = [], help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

extension MetricDefinition {
    /// Makes the counter with these values of its labels, in the order of `labels`.
    package func counter(_ values: String..., in factory: any MetricsFactory) -> Counter {
        Counter(label: name, dimensions: dimensions(values), factory: factory)
    }

    /// Makes the counter of fractions, such as seconds, with these values of its labels.
    package func fractionalCounter(_ values: String..., in factory: any MetricsFactory) -> FloatingPointCounter {
        FloatingPointCounter(label: name, dimensions: dimensions(values), factory: factory)
    }

    /// Makes the gauge with these values of its labels.
    package func gauge(_ values: String..., in factory: any MetricsFactory) -> Gauge {
        Gauge(label: name, dimensions: dimensions(values), factory: factory)
    }

    /// Makes the histogram with these values of its labels.
    package func timer(_ values: String..., in factory: any MetricsFactory) -> Timer {
        Timer(label: name, dimensions: dimensions(values), factory: factory)
    }

    private func dimensions(_ values: [String]) -> [(String, String)] {
        precondition(values.count == labels.count, "\(name) has the labels \(labels)")
        return Array(zip(labels, values))
    }
}
