import JustTrack

func track(_ event: any Event) -> Bool {
    let tracking = EventTracking(deliveryType: .batch(dispatchInterval: 3))
    tracking.loadDefaultTracker(.consoleLogger)
    tracking.enable()
    let isTaken = tracking.trackEvent(event)
    return isTaken
}
