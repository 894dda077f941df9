import Sluice
import Synchronization

/// Completes every delivery at once, and counts the events.
final class DiscardTracker: Tracker {
    let name: String
    private let count = Atomic<Int>(0)

    init(name: String) {
        self.name = name
    }

    /// The number of events that were delivered.
    var delivered: Int { count.load(ordering: .relaxed) }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        count.add(delivery.count, ordering: .relaxed)
        return .delivered
    }
}

/// Holds its first delivery until it is cancelled, like a destination that never responds.
final class StalledTracker: Tracker {
    let name: String

    init(name: String) {
        self.name = name
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        try? await Task.sleep(for: .seconds(1_000_000))
        return .retry(TrackerError(code: .cancelled, message: "The tracker is stalled.", isRetryable: true))
    }
}
