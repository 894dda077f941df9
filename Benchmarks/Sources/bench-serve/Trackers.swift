import Sluice
import Synchronization

/// Takes everything at once, and counts it.
final class DiscardTracker: Tracker {
    let name: String
    private let count = Atomic<Int>(0)

    init(name: String) {
        self.name = name
    }

    /// How many events it was given.
    var delivered: Int { count.load(ordering: .relaxed) }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        count.add(delivery.count, ordering: .relaxed)
        return .delivered
    }
}

/// Holds on to its first delivery until it is cancelled, as a destination does that answers nobody.
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
