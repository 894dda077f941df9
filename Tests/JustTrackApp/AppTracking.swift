import JustTrack

/// An app that uses JustTrack as existing apps do: in Swift 5 mode, with types that are not `Sendable`.
///
/// Compiling it is a test; other tests check what it does.
package final class AppTracking {
    package let analytics = AnalyticsTracker(token: "token")
    package var log: [String] = []

    private let eventTracker: EventTracking

    /// Takes an `EventTracking`, so that a test can use one that stores nothing in the user's folder.
    package init(_ eventTracker: EventTracking = EventTracking(deliveryType: .batch(dispatchInterval: 3.0))) {
        self.eventTracker = eventTracker
        eventTracker.loadDefaultTracker(.consoleLogger)
        eventTracker.logClosure = { [unowned self] (logString: String, logLevel: TrackingLogLevel) -> Void in
            self.log.append("[\(logLevel)] \(logString)")
        }
        let trackers: [EventTracker] = [analytics]
        for tracker in trackers {
            eventTracker.loadCustomTracker(tracker)
        }
        eventTracker.enable()
    }

    package func userLoggedIn() -> Bool {
        eventTracker.trackEvent(EventNoPayload())
        return eventTracker.trackEvent(EventUser(action: "UserLogIn", response: "success", extra: ""))
    }

    package func basketShown() {
        let item = EventBasket.Items(itemName: "Tea", itemNumber: 2, itemPrice: 3, itemGift: true)
        let event: Event = EventBasket(table: "12", items: [item])
        eventTracker.trackEvent(event)
        if case .batch(let dispatchInterval) = eventTracker.deliveryType, dispatchInterval > 1 {
            eventTracker.completeAllOperations()
        }
    }

    package func userLoggedOut() {
        eventTracker.unloadTrackers()
    }
}

/// A tracker as in the documentation of the original JustTrack.
package class AnalyticsTracker: EventTracker {
    package let name = "ANALYTICS"
    package var events: [(name: String, payload: Payload)] = []
    package var didTrack: (() -> Void)?
    private let token: String

    package init(token: String) {
        self.token = token
    }

    package func trackEvent(_ name: String, payload: Payload) -> Bool {
        events.append((name, payload))
        didTrack?()
        return true
    }
}

/// Uses of the rest of the interface.
package enum EverythingElse {
    package static func name(of key: EventEncodingKey) -> String {
        switch key {
        case .name, .payload, .trackers: return key.rawValue
        }
    }

    package static func immediate() -> EventTracking {
        let tracking = EventTracking()
        let levels: [TrackingLogLevel] = [.verbose, .debug, .info, .error]
        tracking.logClosure = { text, level in print(levels.contains(level), text) }
        tracking.logClosure = nil
        let type = TrackerType.consoleLogger
        tracking.loadDefaultTracker(type)
        return tracking
    }
}
