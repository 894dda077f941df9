import Foundation
import JustTrack
import Synchronization

/// Tracks events through JustTrack's interface, on one thread, until a tracker that completes at once has them all.
///
/// `bench-justtrack FOLDER COUNT`, where FOLDER stores undelivered events. Prints events/s, from the first call of
/// `trackEvent` to the tracker's last call, which `completeAllOperations` triggers.
@main
struct Track {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
            throw BenchmarkError("usage: bench-justtrack FOLDER COUNT")
        }
        let tracker = CountingTracker(expecting: count)
        // As in JustTrack's own example; the interval never ends by itself.
        let tracking = EventTracking(
            deliveryType: .batch(dispatchInterval: 3600),
            folder: URL(fileURLWithPath: arguments[1])
        )
        tracking.loadCustomTracker(tracker)
        tracking.enable()

        let start = ContinuousClock.now
        for number in 0..<count {
            let event = EventUser(action: "UserLogIn", response: "success", extra: "number \(number)")
            guard tracking.trackEvent(event) else { throw BenchmarkError("an event was refused") }
        }
        tracking.completeAllOperations()
        await tracker.finish()
        print(Int(Double(count) / ((ContinuousClock.now - start) / .seconds(1))))
        tracking.unloadTrackers()
    }
}

/// A tracker that completes at once, and signals when it has the expected number of events.
final class CountingTracker: EventTracker, Sendable {
    let name = "counting"
    private let state: Mutex<(missing: Int, waiter: CheckedContinuation<Void, Never>?)>

    init(expecting count: Int) {
        state = Mutex((count, nil))
    }

    func trackEvent(_ name: String, payload: Payload) -> Bool {
        let waiter = state.withLock { state in
            state.missing -= 1
            return state.missing == 0 ? state.waiter : nil
        }
        waiter?.resume()
        return true
    }

    /// Waits until it has all events.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.waiter = continuation
                return state.missing <= 0
            }
            if isOver { continuation.resume() }
        }
    }
}

/// An event as JustTrack's generator writes it.
final class EventUser: Event {
    let name = "User"
    let registeredTrackers = ["counting"]
    var payload: Payload {
        [
            "action": action.isEmpty ? NSNull() : action as Any,
            "response": response.isEmpty ? NSNull() : response as Any,
            "extra": extra.isEmpty ? NSNull() : extra as Any,
        ]
    }

    private let action: String
    private let response: String
    private let extra: String

    init(action: String, response: String, extra: String) {
        self.action = action
        self.response = response
        self.extra = extra
    }
}

/// Why the measurement failed.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
