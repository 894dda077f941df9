import JustTrack

/// An app as those that used JustTrack are: in Swift 5's mode, with types that are not made for concurrency.
///
/// That it compiles is a test; what it does is checked by the others.
package final class AppTracking {
    package let analytics = AnalyticsTracker(token: "token")
    package var log: [String] = []

    private let eventTracker: EventTracking

    /// An app has no argument here; a test gives a tracking that stores nothing in the machine's own folder.
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

/// A tracker as JustTrack's documentation had them.
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

/// What an app may write that names the rest of the interface.
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
