import CoreMetrics
import MetricDefinitions

/// The metrics of reading the plan's files again.
package struct PlanMetrics: Sendable {
    private static let reloadsDefinition = MetricDefinition(
        "sluice_plan_reloads_total",
        .counter,
        labels: ["outcome"],
        help: "How often the plan's files were read again: the plan was replaced, unchanged, or refused"
    )
    private static let refusedDefinition = MetricDefinition(
        "sluice_plan_files_refused",
        .gauge,
        help: "1 while the plan's files have problems, so that the earlier plan stays in use, otherwise 0"
    )

    /// All of them.
    static let definitions = [reloadsDefinition, refusedDefinition]

    private let reloads: [PlanReload.Outcome: Counter]
    private let refused: Gauge

    /// Makes them with the factory that is current now.
    package init() {
        let factory = MetricsSystem.factory
        reloads = Dictionary(
            uniqueKeysWithValues: PlanReload.Outcome.allCases.map { outcome in
                (outcome, Self.reloadsDefinition.counter(outcome.rawValue, in: factory))
            }
        )
        refused = Self.refusedDefinition.gauge(in: factory)
        refused.record(0)
    }

    /// Counts a reload.
    package func count(_ outcome: PlanReload.Outcome) {
        reloads[outcome]?.increment()
        refused.record(outcome == .refused ? 1 : 0)
    }
}
