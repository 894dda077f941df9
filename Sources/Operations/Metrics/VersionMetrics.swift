import CoreMetrics
import MetricDefinitions

/// The versions of the program and of the plan, as labels of metrics whose value is 1.
struct VersionMetrics: Sendable {
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
        help: "1, with the version of the tracking plan (empty if it states none) and its number of events"
    )

    init(_ factory: any MetricsFactory, program: String, plan: (version: String?, events: Int)) {
        Self.build.gauge(program, in: factory).record(1)
        Self.plan.gauge(plan.version ?? "", String(plan.events), in: factory).record(1)
    }
}
