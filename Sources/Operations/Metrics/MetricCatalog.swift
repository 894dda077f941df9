import EventPipeline
import EventQuarantine
package import MetricDefinitions
import SluiceHTTP

/// The metrics of all components: for the exposition's descriptions and for the documentation.
package enum MetricCatalog {
    /// All of them.
    package static let all =
        PipelineMetrics.definitions + QuarantineMetrics.definitions + HTTPMetrics.definitions
        + ProcessMetrics.definitions + VersionMetrics.definitions + PlanMetrics.definitions
        + LoaderMetricDefinitions.all + PostgresMetricDefinitions.all
}

extension MetricCatalog {
    /// The table of the documentation, in Markdown: a row for each metric, ordered by name.
    package static var table: String {
        let rows = (all + PrometheusRegistry.ownDefinitions).sorted { $0.name < $1.name }.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |"
        }
        return (["| name | type | labels | what it says |", "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
    }
}
