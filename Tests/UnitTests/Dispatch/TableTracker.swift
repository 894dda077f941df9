import EventPipeline
import PipelineTestKit

/// A tracker whose destination has a table for each event's name, any of which may be broken.
final class TableTracker: Tracker {
    struct State: Sendable {
        var broken: Set<String> = []
        var isDown = false
        var delivered: [Int] = []
        /// The names of the events of each call of `deliver`, in order.
        var calls: [Set<String>] = []
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
            if state.isDown { return .retry(ScriptedTracker.outage) }
            var left: [Int] = []
            for (position, event) in delivery.enumerated() {
                if state.broken.contains(event.name) || stopsAtFirstFailure && !left.isEmpty {
                    left.append(position)
                } else {
                    state.delivered.append(event.number)
                }
            }
            return left.isEmpty ? .delivered : DeliveryOutcome(retry: .init(positions: left, reason: Self.reason))
        }
    }

    static let reason = TrackerError(code: .notPrepared, message: "There is no such table.", isRetryable: false)

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
