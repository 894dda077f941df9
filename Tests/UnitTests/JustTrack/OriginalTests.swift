import Foundation
import JustTrack
import JustTrackApp
import SluiceTesting
import Testing

/// The behaviour that the tests of the original JustTrack require.
@Suite("JustTrack: the requirements of its original tests", .timeLimit(.minutes(5))) struct OriginalTests {
    private let sample = TrackingSample()
    private let first = NotingTracker("MockTracker")
    private let second = NotingTracker("SomeOtherMockTracker")

    @Test("with immediate delivery, an event goes to all trackers that it names, at once")
    func immediate() async throws {
        let tracking = sample.tracking(.immediate, trackers: first, second)
        #expect(tracking.trackEvent(SampleEvent(trackers: first.name, second.name)))
        await first.waits(for: ["example"])
        await second.waits(for: ["example"])
    }

    @Test("with batches, an event goes to all trackers that it names, and not before the interval is over")
    func batch() async throws {
        let interval = 0.2
        let tracking = sample.tracking(.batch(dispatchInterval: interval), trackers: first, second)
        let start = ContinuousClock.now
        #expect(tracking.trackEvent(SampleEvent(trackers: first.name, second.name)))
        await first.waits(for: ["example"])
        #expect(ContinuousClock.now - start >= .seconds(interval))
        await second.waits(for: ["example"])
        #expect(ContinuousClock.now - start >= .seconds(interval))
    }

    @Test("an event is not delivered to trackers that it does not name")
    func mapping() async throws {
        let tracking = sample.tracking(trackers: first, second)
        tracking.enable()
        #expect(tracking.trackEvent(SampleEvent(trackers: first.name)))
        await tracking.flush()
        #expect(first.names.value == ["example"])
        #expect(second.names.value == [])
    }

    @Test("the names of trackers are compared case-insensitively")
    func caseOfNames() async throws {
        let tracking = sample.tracking(trackers: first, second)
        #expect(tracking.trackEvent(SampleEvent(trackers: "mOCKtRACKER")))
        await tracking.flush()
        #expect(first.names.value == ["example"])
        #expect(second.names.value == [])
    }

    @Test(
        "an event without a name, or without trackers, is refused",
        arguments: [("", ["MockTracker"]), ("example", []), ("", [])]
    )
    func invalid(name: String, trackers: [String]) async throws {
        let tracking = sample.tracking(trackers: first)
        var event = SampleEvent(name)
        event.registeredTrackers = trackers
        #expect(!tracking.trackEvent(event))
        await tracking.flush()
        #expect(first.names.value == [])
        #expect(sample.errors.count == 1)
    }

    @Test("an event is stored and restored with its name, payload and tracker")
    func storing() async throws {
        let absent = NotingTracker("AmazingTracker") { _ in false }
        let payload: Payload = ["AmazingId": 123_456, "arrayOfItems": [EventBasket.Items]()]
        let before = sample.tracking(trackers: absent)
        before.trackEvent(SampleEvent("AmazingEvent", payload: payload, trackers: "AmazingTracker", "other"))
        await before.flush()

        let keeping = KeepingTracker(name: "AmazingTracker")
        let tracking = try sample.copy().tracking(trackers: keeping)
        tracking.enable()
        await tracking.flush()
        #expect(keeping.names == ["AmazingEvent"])
        #expect(keeping.payloads.first?["AmazingId"] as? Int == 123_456)
        #expect(keeping.payloads.first?["arrayOfItems"] as? [EventBasket.Items] == [])
    }

    @Test("an app that was written for the original JustTrack works unchanged")
    func app() async throws {
        let app = AppTracking(sample.tracking(.batch(dispatchInterval: 3)))
        let count = Watched(0)
        app.analytics.didTrack = { count.update { $0 += 1 } }
        #expect(app.userLoggedIn())
        app.basketShown()
        await count.wait { $0 == 3 }
        #expect(app.analytics.events.map(\.name) == ["NoPayload", "User", "basket_shown"])
        let user = try #require(app.analytics.events.dropFirst().first?.payload)
        #expect(user["action"] as? String == "UserLogIn")
        #expect(user["extra"] is NSNull)
        let items = try #require(app.analytics.events.last?.payload["items"] as? [[String: Any]])
        #expect(items.first?["item_number"] as? Int == 2)
        #expect(items.first?["item_price"] as? Double == 3.0)
        #expect(items.first?["item_gift"] as? Bool == true)
        app.userLoggedOut()
        #expect(app.log.contains { $0.hasPrefix("[info]") })
        #expect(!app.log.contains { $0.hasPrefix("[error]") })
    }
}
