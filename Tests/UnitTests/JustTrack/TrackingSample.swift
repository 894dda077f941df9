import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Synchronization

/// An event whose members a test chooses.
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

/// A tracker that records the names of its events, and returns the result that a test chooses.
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

    /// Waits until exactly these events were received, in this order.
    func waits(for expected: [String]) async {
        await names.wait { $0 == expected }
    }
}

/// A tracker that records payloads without synchronisation; a test reads them after all events were delivered.
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

/// A folder for undelivered events, and the log.
final class TrackingSample {
    let folder = TemporaryFolder()
    private let lines = Mutex<[String]>([])

    /// The logged errors.
    var errors: [String] { lines.withLock { $0.filter { $0.hasPrefix("error") } } }
    /// The log without the engine's own messages.
    var log: [String] { lines.withLock { $0.filter { !$0.hasPrefix("debug") && !$0.hasPrefix("verbose") } } }

    /// A copy of the current state of the folder, as a later process finds it if this process ends now.
    func copy() throws -> TrackingSample {
        let copy = TrackingSample()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.folder.path)
        return copy
    }

    /// An `EventTracking` that uses the folder.
    func tracking(
        _ deliveryType: TrackingDeliveryType = .immediate,
        trackers: any EventTracker...
    ) -> EventTracking {
        let tracking = EventTracking(deliveryType: deliveryType, folder: URL(fileURLWithPath: folder.path))
        listen(to: tracking)
        for tracker in trackers { tracking.loadCustomTracker(tracker) }
        return tracking
    }

    /// Records the log.
    func listen(to tracking: EventTracking) {
        tracking.logClosure = { text, level in self.lines.withLock { $0.append("\(level): \(text)") } }
    }
}

extension Watched<Bool> {
    /// Blocks the thread until the value is true, as a tracker that hangs does.
    func hold() -> Bool {
        let condition = NSCondition()
        while !value { _ = condition.withLock { condition.wait(until: Date(timeIntervalSinceNow: 0.01)) } }
        return true
    }
}
