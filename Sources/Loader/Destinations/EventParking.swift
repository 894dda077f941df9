import TrackerKit

/// Which events of a tracker without positions are parked: those that it does not accept while it accepts others.
///
/// A tracker that accepts nothing is unavailable, which is not the fault of the events.
struct EventParking {
    private let limits: LoadLimits
    /// When the tracker last accepted an event.
    private var acceptedAt: Duration?
    /// The names of the events that were parked, and of which the tracker has accepted none since.
    private var names: Set<String> = []
    /// Whether the tracker has accepted an event since some were parked last.
    private var acceptsOthers = false

    init(limits: LoadLimits) {
        self.limits = limits
    }

    /// Whether events of some names are parked.
    var isParking: Bool { !names.isEmpty }

    /// The tracker has accepted events with these names.
    mutating func accepted(_ names: Set<String>, now: Duration) {
        acceptedAt = now
        acceptsOthers = true
        self.names.subtract(names)
    }

    /// Events with this name were parked.
    mutating func parked(_ name: String) {
        names.insert(name)
        acceptsOthers = false
    }

    /// Those of the names whose events are parked after one attempt, because earlier ones were.
    func known(among names: Set<String>) -> Set<String> { acceptsOthers ? names.intersection(self.names) : [] }

    /// Whether events are parked that the tracker has not accepted since a time.
    func isDue(since: Duration, because reason: TrackerError, now: Duration) -> Bool {
        guard let acceptedAt, acceptedAt >= since else { return false }
        return now - since >= (reason.isRetryable ? limits.patience : min(limits.patience, limits.patienceForRepairs))
    }
}

extension TrackerError {
    /// Whether the destination is away, which says nothing about the events.
    var isOutage: Bool { code == .unavailable || code == .timeout || code == .cancelled }
}
