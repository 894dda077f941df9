/// Prints each event, as JustTrack's own did.
struct TrackerConsole: EventTracker {
    let name = "console"

    func trackEvent(_ name: String, payload: Payload) -> Bool {
        print("[\(self.name)] ☞ Event: \(name) \(payload)")
        return true
    }
}
