import SluiceTesting
import TrackerKit

/// A tracker whose destination has a table for each event's name, any of which may be broken.
final class TableTracker: Tracker {
    struct State: Sendable {
        var broken: Set<String> = []
        var isDown = false
        /// The events that it refuses without asking its destination.
        var refused: Set<Int> = []
        var delivered: [Int] = []
        /// The names of the events of each call of `deliver`, in order.
        var calls: [Set<String>] = []
        /// How many events the largest call had.
        var mostEvents = 0
    }

    let name = "alpha"
    let state: Watched<State>
    /// Whether it gives up at the first event that fails, as one that takes single events does.
    private let stopsAtFirstFailure: Bool

    init(broken: Set<String> = [], stopsAtFirstFailure: Bool = false) {
        state = Watched(State(broken: broken))
        self.stopsAtFirstFailure = stopsAtFirstFailure
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let stopsAtFirstFailure = stopsAtFirstFailure
        return state.update { state in
            state.calls.append(Set(delivery.map(\.name)))
            state.mostEvents = max(state.mostEvents, delivery.count)
            var left: [Int] = []
            var refusals: [DeliveryOutcome.Refusal] = []
            for (position, event) in delivery.enumerated() {
                if state.refused.contains(event.number) {
                    refusals.append(.init(position: position, reason: "It is too large."))
                } else if state.isDown || state.broken.contains(event.name) || stopsAtFirstFailure && !left.isEmpty {
                    left.append(position)
                } else {
                    state.delivered.append(event.number)
                }
            }
            let reason = state.isDown ? Self.timeout : Self.reason
            let retry = left.isEmpty ? nil : DeliveryOutcome.Retry(positions: left, reason: reason)
            return DeliveryOutcome(refusals: refusals, retry: retry)
        }
    }

    static let reason = TrackerError(code: .notPrepared, message: "There is no such table.", isRetryable: false)

    static let timeout = TrackerError(code: .timeout, message: "There was no answer in time.", isRetryable: true)

    var delivered: [Int] { state.value.delivered }

    func waitForDelivered(_ count: Int) async {
        await state.wait { $0.delivered.count >= count }
    }

    /// Waits until it was called so many times more.
    func waitForCalls(_ count: Int) async {
        let made = state.value.calls.count
        await state.wait { $0.calls.count >= made + count }
    }
}

/// A tracker of single events that cannot deliver some of them, whatever happens.
final class PoisonTracker: SingleEventTracker {
    struct Failure: Error {}

    let name = "alpha"
    let poison: Set<Int>
    let delivered = Watched<[Int]>([])

    init(poison: Set<Int>) {
        self.poison = poison
    }

    func track(_ event: TrackedEvent) async throws {
        let number = event.number
        if poison.contains(number) { throw Failure() }
        delivered.update { $0.append(number) }
    }
}

/// A tracker that knows which events it cannot deliver although it delivers others.
final class StuckTracker: Tracker {
    let name = "alpha"
    let delivered = Watched<[Int]>([])
    /// Why it delivers nothing; `nil` while it delivers.
    let failure = Watched<TrackerError?>(nil)
    /// What it says of events that are stuck, if it delivers no others in the same call.
    private let reasonAlone: TrackerError
    private let reason: TrackerError
    private let count = Watched(0)
    private let isStuck: @Sendable (TrackedEvent) -> Bool

    var calls: Int { count.value }

    init(
        reason: TrackerError = TableTracker.reason,
        alone reasonAlone: TrackerError? = nil,
        _ isStuck: @escaping @Sendable (TrackedEvent) -> Bool
    ) {
        self.isStuck = isStuck
        self.reason = reason
        self.reasonAlone = reasonAlone ?? reason
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        defer { count.update { $0 += 1 } }
        if let failure = failure.value { return .retry(failure) }
        let positions = delivery.enumerated().filter { isStuck($0.element) }.map(\.offset)
        delivered.update { list in list += delivery.filter { !isStuck($0) }.map(\.number) }
        guard !positions.isEmpty else { return .delivered }
        let hasDelivered = positions.count < delivery.count
        let groups = delivery.positionsByName(of: positions).map { group in
            DeliveryOutcome.Stuck(positions: group.positions, reason: reason, isWholeName: false)
        }
        return DeliveryOutcome(
            retry: .init(
                positions: positions,
                reason: hasDelivered ? reason : reasonAlone,
                stuck: hasDelivered ? groups : []
            )
        )
    }
}
