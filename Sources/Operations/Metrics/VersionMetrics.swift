import CoreMetrics
import EventPipeline
import MetricDefinitions
import Synchronization

/// The versions of the program and of the plan, as labels of metrics whose value is 1.
final class VersionMetrics: Sendable {
    static let definitions = [build, plan]

    private static let build = MetricDefinition(
        "sluice_build_info",
        .gauge,
        labels: ["version"],
        help: "1, with the version of the program"
    )
    private static let plan = MetricDefinition(
        "sluice_plan_info",
        .gauge,
        labels: ["version", "events"],
        help:
            "1 for the tracking plan in use and 0 for earlier ones, with the version (empty if it states none) and the number of events"
    )

    private let factory: any MetricsFactory
    /// The gauge of the plan in use.
    private let current: Mutex<(plan: PlanSummary, gauge: Gauge)>

    init(_ factory: any MetricsFactory, program: String, plan: PlanSummary) {
        self.factory = factory
        Self.build.gauge(program, in: factory).record(1)
        let gauge = Self.gauge(of: plan, in: factory)
        gauge.record(1)
        current = Mutex((plan, gauge))
    }

    /// Records the plan in use.
    func record(_ plan: PlanSummary) {
        current.withLock { current in
            guard plan != current.plan else { return }
            current.gauge.record(0)
            current = (plan, Self.gauge(of: plan, in: factory))
            current.gauge.record(1)
        }
    }

    private static func gauge(of plan: PlanSummary, in factory: any MetricsFactory) -> Gauge {
        Self.plan.gauge(plan.version ?? "", String(plan.events), in: factory)
    }
}
