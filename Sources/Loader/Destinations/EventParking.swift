import TrackerKit

/// Which events of a tracker without positions are parked: those that it does not accept while it accepts others.
///
/// A tracker that accepts nothing is unavailable, which is not the fault of the events.
struct EventParking {
    private let limits: LoadLimits
    /// When the latest delivery began in which the tracker accepted an event.
    private var acceptedAt: Duration?
    /// The reasons for parking, by event name; a name is removed when the tracker accepts one of its events.
    private var reasons: [String: TrackerError] = [:]
    /// Whether the tracker has accepted an event since some were parked last.
    private var acceptsOthers = false

    init(limits: LoadLimits) {
        self.limits = limits
    }

    /// Whether the events of some names are being parked.
    var isParking: Bool { !reasons.isEmpty }

    /// The tracker has accepted events with these names in a delivery that began at this time.
    mutating func accepted(_ names: Set<String>, began: Duration) {
        acceptedAt = max(acceptedAt ?? began, began)
        acceptsOthers = true
        for name in names { reasons[name] = nil }
    }

    /// Events with this name were parked.
    mutating func parked(_ name: String, because reason: TrackerError) {
        reasons[name] = reason
        acceptsOthers = false
    }

    /// The names whose events are parked after a single attempt, because earlier ones had to be, with the reasons.
    var known: [String: TrackerError] { acceptsOthers ? reasons : [:] }

    /// Whether the tracker has accepted an event in a delivery that began at this time or later.
    func hasAccepted(since began: Duration) -> Bool { acceptedAt.map { $0 >= began } ?? false }

    /// Whether events have waited long enough to be parked; the latest attempt, which began at `began`, is not their first one.
    func isDue(_ wait: BatchProgress.Wait?, began: Duration, now: Duration) -> Bool {
        guard let wait, wait.since < began, let since = wait.acceptsOthersSince else { return false }
        return now - since >= limits.patience
    }
}
