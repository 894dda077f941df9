import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Testing

@Suite("JustTrack: events in the defaults of the original JustTrack", .timeLimit(.minutes(5))) struct DefaultsTests {
    private static let key = "com.justeat.TrackOperations"
    private let sample = TrackingSample()
    private let suite = "sluice-\(UUID().uuidString)"
    private let defaults: UserDefaults

    init() throws {
        defaults = try #require(UserDefaults(suiteName: suite))
    }

    /// Stores events as the original JustTrack did.
    private func store(_ entries: [String: Any]) throws {
        let all = NSMutableDictionary(dictionary: entries)
        defaults.set(
            try NSKeyedArchiver.archivedData(withRootObject: all, requiringSecureCoding: false),
            forKey: Self.key
        )
    }

    private func tracking(_ trackers: any EventTracker...) -> EventTracking {
        let storage = EventStorage(folder: sample.folder.path)
        let tracking = EventTracking(deliveryType: .immediate, storage: storage, defaults: defaults)
        sample.listen(to: tracking)
        for tracker in trackers { tracking.loadCustomTracker(tracker) }
        return tracking
    }

    @Test("undelivered events of the original JustTrack are delivered once, in order, to their tracker only")
    func restoring() async throws {
        try store([
            "User_ON_Analytics_1700000001.5": [
                "name": "User", "payload": ["action": "tap", "extra": NSNull(), "count": 3, "price": 2.5, "is": true],
                "trackers": ["Analytics", "other"],
            ] as [String: Any],
            "a_ON_b_ON_my_tracker_1700000000": [
                "name": "a_ON_b", "payload": [String: Any](), "trackers": ["my_tracker"],
            ] as [String: Any],
            "Start_ON_ANALYTICS_1700000000.25": [
                "name": "Start", "payload": [String: Any](), "trackers": ["analytics"],
            ]
                as [String: Any],
        ])
        let (analytics, other) = (KeepingTracker(name: "analytics"), NotingTracker("other"))
        let first = tracking(analytics, other)
        first.enable()
        first.enable()
        await first.flush()
        #expect(analytics.names == ["Start", "User"])
        let payload = try #require(analytics.payloads.last)
        #expect(payload["action"] as? String == "tap" && payload["extra"] is NSNull)
        #expect(payload["count"] as? Int == 3 && payload["price"] as? Double == 2.5 && payload["is"] as? Bool == true)
        #expect(other.names.value == [])
        #expect(sample.log.contains("info: 2 events restored"))

        let mine = NotingTracker("my_tracker")
        let second = tracking(mine)
        second.enable()
        await second.flush()
        #expect(mine.names.value == ["a_ON_b"])
        #expect(defaults.object(forKey: Self.key) == nil)
        #expect(sample.errors == [])
        defaults.removePersistentDomain(forName: suite)
    }

    @Test("defaults that cannot be read are left unchanged and reported, and new events are still delivered")
    func damaged() async {
        defaults.set(Data("no archive".utf8), forKey: Self.key)
        let tracker = NotingTracker("a")
        let tracking = tracking(tracker)
        tracking.enable()
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
        #expect(sample.errors.count == 1)
        #expect(defaults.data(forKey: Self.key) != nil)
        tracking.unloadTrackers()
        #expect(defaults.data(forKey: Self.key) == nil)
        defaults.removePersistentDomain(forName: suite)
    }
}
