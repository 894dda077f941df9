import EventModel
package import EventPipeline
import EventSchema
package import EventValidation
package import Logging
package import Operations
import PlanReading
import PlanTools
import ServiceLifecycle
package import SluiceHTTP
import Synchronization
package import TrackerKit
import UnixSignals

/// Takes changes of the plan's files into a running server: when they change, at SIGHUP, and when somebody asks for it.
///
/// It compares the files' bytes once a second, on a thread of its own. A change is parsed and applied once the bytes have stayed the
/// same for a second.
package actor PlanFiles: Service, PlanReloader {
    private static let pause = Duration.seconds(1)

    private let folder: String
    private let pipeline: Pipeline
    private let server: IngestServer
    /// Finds why a plan that can be read may not be used.
    private let findProblem: @Sendable (EventCatalog) -> String?
    private let logger: Logger
    private let clock: RelativeClock
    private let thread: BlockingThread
    private let metrics = PlanMetrics()
    /// The files when they were last read; `nil` until then.
    private var read: [PlanSource]?
    /// The files at the last look.
    private var seen: [PlanSource] = []
    private nonisolated let currentProblem = Mutex<String?>(nil)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Watches the files in a folder, from which the pipeline's plan was read.
    ///
    /// - Throws: If the system refuses a thread.
    package init(
        folder: String,
        pipeline: Pipeline,
        server: IngestServer,
        findProblem: @escaping @Sendable (EventCatalog) -> String?,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) throws(TrackerError) {
        thread = try BlockingThread()
        self.folder = folder
        self.pipeline = pipeline
        self.server = server
        self.findProblem = findProblem
        self.logger = logger
        self.clock = RelativeClock(clock)
    }

    /// Why the plan's files are not what is in use; `nil` if they are.
    package nonisolated var problem: String? { currentProblem.withLock { $0 } }

    /// Watches until a graceful shutdown or cancellation.
    package func run() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await _ in signals { _ = await self.reload(askedBy: ["through": "SIGHUP"]) }
                }
                while (try? await self.clock.sleepUntil(self.clock.now() + Self.pause)) != nil { await self.look() }
                group.cancelAll()
            }
        }
    }

    /// Reads the files if they have changed, and not again since the last look.
    package func look() async {
        let sources = PlanReader().sources(at: [folder]).sources
        defer { seen = sources }
        guard sources == seen, sources != read else { return }
        if read == nil, let plan = PlanReader().read(sources).plan, isInUse(EventCatalog(plan: plan)) {
            // Nothing has changed since the process read the plan.
            read = sources
            return
        }
        _ = await reload(askedBy: ["through": "a change of the files"])
    }

    /// Reads the plan, and replaces the one in use if it is valid and different.
    package func reload(askedBy asker: Logger.Metadata) async -> PlanReload {
        let (sources, failures) = PlanReader().sources(at: [folder])
        read = sources
        let reload = await replacePlan(with: PlanReader().read(sources), failures)
        metrics.count(reload.outcome)
        let asker = asker.merging(["folder": "\(folder)"]) { $1 }
        switch reload.outcome {
        case .replaced:
            let plan = pipeline.planSummary
            logger.notice(
                "The tracking plan was replaced.",
                metadata: asker.merging([
                    "version": "\(plan.version ?? "")", "events": "\(plan.events)",
                    "changes": .array(reload.lines.prefix(Self.maximumLoggedLines).map { "\($0)" }),
                    "changeCount": "\(reload.lines.count)",
                ]) { $1 }
            )
            TrackerMatch(of: pipeline.catalog, configured: pipeline.trackerNames).log(to: logger)
        case .unchanged:
            logger.info("The tracking plan was read again and is unchanged.", metadata: asker)
        case .refused:
            logger.error(
                "The tracking plan was not replaced, because the new one has problems; the earlier one stays in use.",
                metadata: asker.merging([
                    "problems": .array(reload.lines.prefix(Self.maximumLoggedLines).map { "\($0)" }),
                    "problemCount": "\(reload.lines.count)",
                ]) { $1 }
            )
        }
        return reload
    }

    /// How many lines a log line lists.
    private static let maximumLoggedLines = 20

    /// Replaces the plan with the one that was read, unless a file could not be read.
    private func replacePlan(with reading: PlanReport, _ failures: [Diagnostic]) async -> PlanReload {
        let diagnostics = failures + reading.diagnostics
        guard let plan = reading.plan, !diagnostics.contains(where: { $0.severity == .error }) else {
            // The errors first: a warning does not keep a plan from being used.
            let errors = diagnostics.filter { $0.severity == .error }
            let warnings = diagnostics.filter { $0.severity != .error }
            return refuse((errors + warnings).map(\.description))
        }
        guard !plan.events.isEmpty else {
            return refuse(["The new plan has no events."] + diagnostics.map(\.description))
        }
        let earlier = pipeline.catalog.plan
        let catalog = pipeline.catalog.replacingPlan(with: plan)
        guard !isInUse(catalog) else {
            currentProblem.withLock { $0 = nil }
            return PlanReload(.unchanged)
        }
        if let problem = findProblem(catalog) { return refuse([problem]) }
        do throws(PipelineError) {
            try pipeline.replacePlan(with: catalog)
        } catch {
            return refuse([error.message])
        }
        // Before the wait, in which another reload may find a problem.
        currentProblem.withLock { $0 = nil }
        await server.replacePlan(with: catalog)
        let diff = PlanDiff(from: earlier, to: plan)
        return PlanReload(
            .replaced,
            diagnostics.map(\.description)
                + Compatibility.worstFirst.flatMap(diff.changes).map { change in
                    [change.compatibility.rawValue, change.subject, change.sentence].compactMap { $0 }.joined(
                        separator: ": "
                    )
                }
        )
    }

    /// Whether the pipeline uses the same plan.
    ///
    /// Plans that differ only in the Unicode normalization of a name are equal, and their digests are not.
    private func isInUse(_ catalog: EventCatalog) -> Bool {
        catalog.plan == pipeline.catalog.plan && catalog.planDigest == pipeline.catalog.planDigest
    }

    private func refuse(_ problems: [String]) -> PlanReload {
        let others = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        currentProblem.withLock { $0 = (problems.first ?? "The plan cannot be read.") + others }
        return PlanReload(.refused, problems)
    }
}
