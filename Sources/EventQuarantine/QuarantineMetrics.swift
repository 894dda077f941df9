package import MetricDefinitions
import Metrics

/// The metrics of a quarantine.
package struct QuarantineMetrics: Sendable {
    private static let keptDefinition = MetricDefinition(
        "sluice_quarantine_events_kept_total",
        .counter,
        help: "Rejected and refused events that were stored in the quarantine"
    )
    private static let lostDefinition = MetricDefinition(
        "sluice_quarantine_events_lost_total",
        .counter,
        help: "Rejected and refused events that were not stored: the size limit, a disk error, or too many at once"
    )
    private static let overwrittenDefinition = MetricDefinition(
        "sluice_quarantine_events_overwritten_total",
        .counter,
        help: "Rejected events that were removed from the quarantine at its size limit, to make room for newer ones"
    )

    /// All of them.
    package static let definitions = [keptDefinition, lostDefinition, overwrittenDefinition]

    let kept: Counter
    let lost: Counter
    let overwritten: Counter

    init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        kept = Self.keptDefinition.counter(in: factory)
        lost = Self.lostDefinition.counter(in: factory)
        overwritten = Self.overwrittenDefinition.counter(in: factory)
    }
}
