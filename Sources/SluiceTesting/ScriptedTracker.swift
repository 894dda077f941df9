public import EventModel
public import EventValidation
public import TrackerKit

/// A tracker that does what a test tells it, and remembers what it was asked.
///
/// Each delivery takes the next act of the script; when there is none left, deliveries succeed.
public final class ScriptedTracker: Tracker {
    /// What the tracker does with one delivery.
    public enum Act: Sendable {
        /// Delivers everything.
        case succeed
        /// Delivers nothing and asks for another try.
        case fail
        /// Delivers what is not at these positions, and asks for another try of the rest.
        case failPartly([Int])
        /// Refuses the events at these positions, and delivers the others.
        case refuse([Int])
        /// Returns this outcome, be it right or wrong; what it neither refuses nor wants again counts as delivered.
        case answer(DeliveryOutcome)
        /// Waits for `release`, then delivers everything; when it is cancelled, asks for another try.
        case stall
        /// Waits for `release`, then delivers everything; pays no heed to its cancellation.
        case stallIgnoringCancellation
    }

    /// What the tracker was asked.
    public enum Call: Sendable, Hashable {
        /// `start` was called.
        case start
        /// `deliver` was called, with these events.
        case deliver([EventID])
        /// `deliver` returned.
        case delivered
        /// `stop` was called.
        case stop
    }

    private struct State: Sendable {
        var acts: [Act]
        var startErrors: [TrackerError]
        var calls: [Call] = []
        var delivered: [EventID] = []
        var released = 0
        var stalled = 0
    }

    /// The name by which the plan's events name it.
    public let name: String
    private let state: Watched<State>

    /// Makes a tracker with a script; `startErrors` are thrown by its first starts.
    public init(name: String, _ acts: [Act] = [], startErrors: [TrackerError] = []) {
        self.name = name
        state = Watched(State(acts: acts, startErrors: startErrors))
    }

    /// Adds to the script.
    public func then(_ acts: Act...) {
        state.update { $0.acts += acts }
    }

    /// Lets one stalled delivery go on, the present one or the next.
    public func release() {
        state.update { $0.released += 1 }
    }

    /// Everything it was asked, in order.
    public var calls: [Call] { state.value.calls }

    /// The events of each delivery it was asked for, in order.
    public var deliveries: [[EventID]] {
        calls.compactMap { if case .deliver(let ids) = $0 { ids } else { nil } }
    }

    /// The events it delivered, in order, as often as it did.
    public var delivered: [EventID] { state.value.delivered }

    /// Waits until it was stopped.
    public func waitForStop() async {
        await waitForCalls(1) { $0 == .stop }
    }

    /// Waits until it has delivered so many events.
    public func waitForDelivered(_ count: Int) async {
        await state.wait { $0.delivered.count >= count }
    }

    /// Waits until it was asked for so many things that fulfil a condition.
    public func waitForCalls(_ count: Int, where condition: @escaping @Sendable (Call) -> Bool) async {
        await state.wait { $0.calls.count(where: condition) >= count }
    }

    /// Waits until it was asked for so many deliveries.
    public func waitForDeliveries(_ count: Int) async {
        await waitForCalls(count) { if case .deliver = $0 { true } else { false } }
    }

    /// Waits until so many starts were asked for.
    public func waitForStarts(_ count: Int) async {
        await waitForCalls(count) { $0 == .start }
    }

    /// Starts, or throws the next of the errors it was given.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        let error: TrackerError? = state.update { state in
            state.calls.append(.start)
            return state.startErrors.isEmpty ? nil : state.startErrors.removeFirst()
        }
        if let error { throw error }
    }

    /// Plays the next act.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let ids = delivery.map(\.id)
        let act: Act = state.update { state in
            state.calls.append(.deliver(ids))
            return state.acts.isEmpty ? .succeed : state.acts.removeFirst()
        }
        let outcome = await play(act)
        let unsettled = Set(outcome.refusals.map(\.position))
            .union(outcome.retry.map { $0.positions ?? Array(ids.indices) } ?? [])
        state.update { state in
            state.delivered += ids.indices.filter { !unsettled.contains($0) }.map { ids[$0] }
            state.calls.append(.delivered)
        }
        return outcome
    }

    /// Notes that it was stopped.
    public func stop() async {
        state.update { $0.calls.append(.stop) }
    }

    private func play(_ act: Act) async -> DeliveryOutcome {
        switch act {
        case .succeed: return .delivered
        case .fail: return .retry(Self.outage)
        case .failPartly(let positions):
            return DeliveryOutcome(retry: .init(positions: positions, reason: Self.outage))
        case .refuse(let positions): return .refused(positions.map { .init(position: $0, reason: "as scripted") })
        case .answer(let outcome): return outcome
        case .stall:
            await waitForRelease()
            if Task.isCancelled { return .retry(Self.cancelled) }
            return .delivered
        case .stallIgnoringCancellation:
            // Not a child task, which would be cancelled along.
            await Task { await waitForRelease() }.value
            return .delivered
        }
    }

    private func waitForRelease() async {
        let place = state.update { state in
            state.stalled += 1
            return state.stalled
        }
        await state.wait { $0.released >= place }
    }

    /// The reason a scripted failure gives.
    public static let outage = TrackerError(code: .unavailable, message: "Scripted outage.", isRetryable: true)
    /// The reason a scripted wrong setting gives.
    public static let misconfiguration = TrackerError(
        code: .misconfigured,
        message: "Scripted wrong setting.",
        isRetryable: false
    )
    private static let cancelled = TrackerError(
        code: .cancelled,
        message: "The delivery was cancelled.",
        isRetryable: true
    )
}
