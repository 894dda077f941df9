import EventModel
import Hummingbird

/// A process without a pipeline, as the private port shows it.
package protocol ReportingProcess: GaugeSource {
    /// Why it does not do its work now; empty if it does.
    var unreadyReasons: [String] { get }
    /// What `/v1/status` says.
    var report: any Encodable & Sendable { get }
}

/// What the private port of such a process answers.
struct ProcessRoutes: OperationsRouting {
    private struct Readiness: Encodable {
        let status: String
        let reasons: [String]
    }

    private let process: any ReportingProcess
    private let registry: PrometheusRegistry
    private let processMetrics: ProcessMetrics
    private let clock: RelativeClock

    init(process: any ReportingProcess, registry: PrometheusRegistry, clock: RelativeClock) {
        self.process = process
        self.registry = registry
        self.clock = clock
        processMetrics = ProcessMetrics(registry, startedAt: .now())
    }

    func router(access: AccessControl?, entryPoint: String) -> Router<OperationsContext> {
        let router = makeRouter(access: access, clock: clock) {
            process.recordGauges()
            processMetrics.record()
            return registry.text
        }
        router.get("/readyz") { _, _ in
            let reasons = process.unreadyReasons
            let readiness = Readiness(status: reasons.isEmpty ? "ready" : "unready", reasons: reasons)
            return Response.text(
                try readiness.jsonLine + "\n",
                status: reasons.isEmpty ? .ok : .serviceUnavailable,
                contentType: "application/json"
            )
        }
        router.get("/v1/status") { _, _ in
            Response.text(try process.report.jsonLine + "\n", contentType: "application/json")
        }
        return router
    }
}
