import EventModel
import HTTPTypes
package import Hummingbird

/// Makes the routes of a private port.
protocol OperationsRouting: Sendable {
    /// Makes the router of the private port, or without `access` that of the socket; `entryPoint` is its name in the log.
    func router(access: AccessControl?, entryPoint: String) -> Router<OperationsContext>
}

extension OperationsRouting {
    /// Makes a router with the routes that every process has: `/metrics`, `/livez`, and with `access` the login.
    func makeRouter(
        access: AccessControl?,
        clock: RelativeClock,
        metrics: @escaping @Sendable () -> String
    ) -> Router<OperationsContext> {
        let router = Router(context: OperationsContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware { AccessMiddleware(access: access) }
        router.get("/metrics") { _, _ in Response.text(metrics(), contentType: PrometheusText.contentType) }
        router.get("/livez") { _, _ in Response.text(#"{"status":"ok"}"# + "\n", contentType: "application/json") }
        if let access { LoginPages(access, clock: clock).add(to: router) }
        return router
    }
}

/// What the private port and the socket of a pipeline answer.
struct OperationsRoutes: OperationsRouting {
    private let pipeline: any OperatedPipeline
    private let sources: [any GaugeSource]
    private let registry: PrometheusRegistry
    private let processMetrics: ProcessMetrics
    private let versionMetrics: VersionMetrics
    private let programVersion: String
    private let control: ControlRoutes
    private let quarantine: QuarantineRoutes?
    private let clock: RelativeClock
    private let history: MetricHistory

    init(
        pipeline: any OperatedPipeline,
        sources: [any GaugeSource],
        registry: PrometheusRegistry,
        programVersion: String,
        control: ControlRoutes,
        quarantine: QuarantineRoutes?,
        history: MetricHistory,
        clock: RelativeClock
    ) {
        self.pipeline = pipeline
        self.sources = sources
        self.registry = registry
        self.programVersion = programVersion
        self.control = control
        self.quarantine = quarantine
        self.history = history
        self.clock = clock
        processMetrics = ProcessMetrics(registry, startedAt: .now())
        versionMetrics = VersionMetrics(registry, program: programVersion, plan: pipeline.planSummary)
    }

    func router(access: AccessControl?, entryPoint: String) -> Router<OperationsContext> {
        let router = makeRouter(access: access, clock: clock) {
            recordGauges()
            return registry.text
        }
        DashboardRoutes(
            pipeline: pipeline,
            history: history,
            status: { status },
            canReplay: quarantine != nil
        )
        .add(to: router, hasLogin: access?.needsToken ?? false)
        TailRoutes(pipeline: pipeline, clock: clock, access: access).add(to: router)
        router.get("/readyz") { _, _ in
            try answer { $0.isReady ? .ok : .serviceUnavailable }
        }
        router.get("/v1/status") { _, _ in try answer { _ in .ok } }
        control.add(to: router, entryPoint: entryPoint)
        quarantine?.add(to: router, entryPoint: entryPoint)
        return router
    }

    private func answer(_ status: (StatusReport) -> HTTPResponse.Status) throws -> Response {
        let report = self.status
        return .text(try report.jsonLine + "\n", status: status(report), contentType: "application/json")
    }

    private var status: StatusReport {
        StatusReport(
            pipeline,
            programVersion: programVersion,
            planProblem: control.planProblem,
            changedSettings: control.settingChanges?.current ?? []
        )
    }

    private func recordGauges() {
        pipeline.recordGauges()
        for source in sources { source.recordGauges() }
        processMetrics.record()
        versionMetrics.record(pipeline.planSummary)
    }
}

/// A request on the private port; its body has at most 4 KiB.
package struct OperationsContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    package var maxUploadSize: Int { 4 << 10 }

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}
