public import EventModel
public import EventValidation
public import TrackerKit

/// A tracker that follows a test's script, and records its calls.
///
/// Each delivery uses the next act of the script. After the last act, deliveries succeed.
public final class ScriptedTracker: Tracker {
    /// What the tracker does with one delivery.
    public struct Act: Sendable {
        fileprivate enum Kind {
            case answer(DeliveryOutcome)
            case stall(ignoresCancellation: Bool)
        }

        fileprivate let kind: Kind

        /// Delivers all events.
        public static let succeed = Self(kind: .answer(.delivered))
        /// Delivers nothing and asks for a retry.
        public static let fail = Self(kind: .answer(.retry(ScriptedTracker.outage)))
        /// Waits for `release`, then delivers all events; when it is cancelled, asks for a retry.
        public static let stall = Self(kind: .stall(ignoresCancellation: false))
        /// Waits for `release`, then delivers all events; ignores cancellation.
        public static let stallIgnoringCancellation = Self(kind: .stall(ignoresCancellation: true))

        /// Delivers the events except those at these positions, and asks for a retry of these.
        public static func failPartly(_ positions: [Int]) -> Self {
            .answer(DeliveryOutcome(retry: .init(positions: positions, reason: ScriptedTracker.outage)))
        }

        /// Refuses the events at these positions, and delivers the others.
        public static func refuse(_ positions: [Int]) -> Self {
            .answer(.refused(positions.map { .init(position: $0, reason: "as scripted") }))
        }

        /// Returns this outcome, valid or not; an event that is neither refused nor retried counts as delivered.
        public static func answer(_ outcome: DeliveryOutcome) -> Self { Self(kind: .answer(outcome)) }
    }

    /// A call that the tracker received.
    public struct Call: Sendable, Hashable {
        private enum Kind: Hashable {
            case start, deliver, delivered, stop
        }

        private let kind: Kind
        /// The events of a call of `deliver`; `nil` for other calls.
        public let ids: [EventID]?

        private init(_ kind: Kind, ids: [EventID]? = nil) {
            self.kind = kind
            self.ids = ids
        }

        /// `start` was called.
        public static let start = Self(.start)
        /// `deliver` was called with these events.
        public static func deliver(_ ids: [EventID]) -> Self { Self(.deliver, ids: ids) }
        /// `deliver` returned.
        public static let delivered = Self(.delivered)
        /// `stop` was called.
        public static let stop = Self(.stop)
    }

    private struct State: Sendable {
        var acts: [Act]
        var startErrors: [TrackerError]
        var calls: [Call] = []
        var delivered: [EventID] = []
        var released = 0
        var stalled = 0
    }

    /// The name that the plan's events refer to.
    public let name: String
    private let state: Watched<State>

    /// Creates a tracker with a script; its first starts throw `startErrors`.
    public init(name: String, _ acts: [Act] = [], startErrors: [TrackerError] = []) {
        self.name = name
        state = Watched(State(acts: acts, startErrors: startErrors))
    }

    /// Adds to the script.
    public func then(_ acts: Act...) {
        state.update { $0.acts += acts }
    }

    /// Releases one stalled delivery, the current one or the next.
    public func release() {
        state.update { $0.released += 1 }
    }

    /// The calls that it received, in order.
    public var calls: [Call] { state.value.calls }

    /// The events of each call of `deliver`, in order.
    public var deliveries: [[EventID]] {
        calls.compactMap(\.ids)
    }

    /// The events that it delivered, in order, with repetitions.
    public var delivered: [EventID] { state.value.delivered }

    /// Waits until the tracker was stopped.
    public func waitForStop() async {
        await waitForCalls(1) { $0 == .stop }
    }

    /// Waits until it has delivered at least `count` events.
    public func waitForDelivered(_ count: Int) async {
        await state.wait { $0.delivered.count >= count }
    }

    /// Waits until it has received at least `count` calls that fulfil a condition.
    public func waitForCalls(_ count: Int, where condition: @escaping @Sendable (Call) -> Bool) async {
        await state.wait { $0.calls.count(where: condition) >= count }
    }

    /// Waits until `deliver` was called at least `count` times.
    public func waitForDeliveries(_ count: Int) async {
        await waitForCalls(count) { $0.ids != nil }
    }

    /// Waits until `start` was called at least `count` times.
    public func waitForStarts(_ count: Int) async {
        await waitForCalls(count) { $0 == .start }
    }

    /// Starts, or throws the next of `startErrors`.
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

    /// Records that it was stopped.
    public func stop() async {
        state.update { $0.calls.append(.stop) }
    }

    private func play(_ act: Act) async -> DeliveryOutcome {
        switch act.kind {
        case .answer(let outcome): return outcome
        case .stall(ignoresCancellation: false):
            await waitForRelease()
            return Task.isCancelled ? .retry(.cancelled) : .delivered
        case .stall(ignoresCancellation: true):
            // Not a child task, because that would be cancelled, too.
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

    /// The reason of a scripted failure.
    public static let outage = TrackerError(code: .unavailable, message: "Scripted outage.", isRetryable: true)
    /// The reason of a scripted wrong setting.
    public static let misconfiguration = TrackerError(
        code: .misconfigured,
        message: "Scripted wrong setting.",
        isRetryable: false
    )
}
