import EventModel
package import EventSchema
import EventValidation
package import Logging
import NIOPosix
import Synchronization

/// Renders the documents of `GET /v1/plan` on a thread of NIO's pool, because a large plan takes longer than an event loop may
/// be held up, and keeps them.
///
/// They are those of one plan; another plan has other documents.
package final class PlanDocuments: Sendable {
    /// Takes a document that was rendered, on the thread that rendered it.
    typealias Waiter = @Sendable (PlanOutcome) -> Void
    /// Renders a plan, or a part of one.
    package typealias Render = @Sendable (TrackingPlan) -> String

    private let plan: TrackingPlan
    private let maximumBytes: Int
    private let render: Render
    private let logger: Logger
    private let cache: Mutex<PlanCache<Waiter>>
    private let clock = RelativeClock(ContinuousClock())
    private let tooLarge = Mutex(FailureEpisode())

    /// Creates the documents of a plan, of which none is rendered yet; `render` must be safe to call on any thread.
    package init(plan: TrackingPlan, maximumBytes: Int, logger: Logger, render: @escaping Render) {
        self.plan = plan
        self.maximumBytes = maximumBytes
        self.logger = logger
        self.render = render
        cache = Mutex(PlanCache(capacityInBytes: maximumBytes))
    }

    /// The documents of another plan, of which none is rendered yet.
    func replacing(plan: TrackingPlan) -> PlanDocuments {
        PlanDocuments(plan: plan, maximumBytes: maximumBytes, logger: logger, render: render)
    }

    /// The document for a key's events, or for all events; `nil` if it has to be rendered, and then `waiter` is called with it.
    func outcome(for events: EventSet?, else waiter: @escaping Waiter) -> PlanOutcome? {
        let scope = events.map(PlanScope.only) ?? .all
        switch cache.withLock({ $0.request(scope, waiter) }) {
        case .known(let outcome): return outcome
        case .wait: return nil
        case .render:
            NIOThreadPool.singleton.submit { [self] _ in renderAll(from: scope) }
            return nil
        }
    }

    /// Renders a document, and those that others wait for meanwhile.
    private func renderAll(from first: PlanScope) {
        var next: PlanScope? = first
        while let scope = next {
            let outcome = outcome(of: scope)
            let completion = cache.withLock { $0.complete(scope, outcome) }
            for waiter in completion.waiters { waiter(outcome) }
            next = completion.next
        }
    }

    private func outcome(of scope: PlanScope) -> PlanOutcome {
        var part = plan
        if case .only(let events) = scope {
            let names = Set(events.names)
            part.events.removeAll { !names.contains($0.name) }
        }
        let document = PlanDocument(render(part))
        guard document.body.count <= maximumBytes else {
            let failures = tooLarge.withLock { $0.failed(now: clock.now()) }
            guard let failures else { return .failure(PlanTooLarge()) }
            logger.error(
                "The schema of the plan is too large for GET /v1/plan; raise the limit, or publish the exported schemas.",
                metadata: [
                    "documents": "\(failures.count)", "bytes": "\(document.body.count)",
                    "maximumBytes": "\(maximumBytes)",
                ]
            )
            return .failure(PlanTooLarge())
        }
        return .success(document)
    }
}
