import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Synchronization

/// An event of a test's own.
struct SampleEvent: Event {
    var name = "example"
    var payload: Payload = [:]
    var registeredTrackers: [String]

    init(_ name: String = "example", payload: Payload = [:], trackers: String...) {
        self.name = name
        self.payload = payload
        registeredTrackers = trackers
    }
}

/// A tracker that notes the names of the events that come, and answers as told.
final class NotingTracker: EventTracker, Sendable {
    let name: String
    let names = Watched<[String]>([])
    private let answer: @Sendable (String) -> Bool

    init(_ name: String, answer: @escaping @Sendable (String) -> Bool = { _ in true }) {
        self.name = name
        self.answer = answer
    }

    func trackEvent(_ name: String, payload: Payload) -> Bool {
        names.update { $0.append(name) }
        return answer(name)
    }

    /// Waits for the events that come, in this order.
    func waits(for expected: [String]) async {
        await names.wait { $0 == expected }
    }
}

/// A tracker that keeps payloads, not made for concurrency; to be looked at when all was passed on.
final class KeepingTracker: EventTracker {
    let name: String
    private(set) var names: [String] = []
    private(set) var payloads: [Payload] = []

    init(name: String = "keeping") {
        self.name = name
    }

    func trackEvent(_ name: String, payload: Payload) -> Bool {
        names.append(name)
        payloads.append(payload)
        return true
    }
}

/// A folder for undelivered events, and what is logged.
final class TrackingSample {
    let folder = TemporaryFolder()
    private let lines = Mutex<[String]>([])

    /// What was logged as an error.
    var errors: [String] { lines.withLock { $0.filter { $0.hasPrefix("error") } } }
    /// All that was logged, but what is the engine's own affair.
    var log: [String] { lines.withLock { $0.filter { !$0.hasPrefix("debug") && !$0.hasPrefix("verbose") } } }

    /// A sample whose folder is as this one's is now: what a process finds that begins after the end of this one.
    func copy() throws -> TrackingSample {
        let copy = TrackingSample()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.folder.path)
        return copy
    }

    /// A tracking in the folder.
    func tracking(
        _ deliveryType: TrackingDeliveryType = .immediate,
        trackers: any EventTracker...
    ) -> EventTracking {
        let tracking = EventTracking(deliveryType: deliveryType, folder: URL(fileURLWithPath: folder.path))
        listen(to: tracking)
        for tracker in trackers { tracking.loadCustomTracker(tracker) }
        return tracking
    }

    /// Notes what is logged.
    func listen(to tracking: EventTracking) {
        tracking.logClosure = { text, level in self.lines.withLock { $0.append("\(level): \(text)") } }
    }
}

extension Watched<Bool> {
    /// Holds the thread until the value is true; for a tracker that hangs.
    func hold() -> Bool {
        let condition = NSCondition()
        while !value { _ = condition.withLock { condition.wait(until: Date(timeIntervalSinceNow: 0.01)) } }
        return true
    }
}
