/// The built-in trackers.
public enum TrackerType: Sendable {
    /// Prints each event to standard output; its name is `console`.
    case consoleLogger
}

/// Prints each event in the format of the original JustTrack.
struct TrackerConsole: EventTracker {
    let name = "console"

    func trackEvent(_ name: String, payload: Payload) -> Bool {
        print("[\(self.name)] ☞ Event: \(name) \(payload)")
        return true
    }
}
