import TrackerKit

/// The events, by name, that a tracker cannot deliver although it delivers others: their table or topic is broken.
///
/// They are parked in the quarantine as they arrive, so that no delivery waits for them. From time to time one of them is
/// tried: a probe.
struct BrokenEvents: Sendable {
    /// What to do with events of a broken name.
    enum Handling: Sendable {
        /// Park them, for this reason.
        case park(TrackerError)
        /// Try one of them first; this is why the last one failed.
        case probe(TrackerError)
    }

    private struct Entry: Sendable {
        let reason: TrackerError
        let since: Duration
        var nextProbe: Duration
    }

    private var entries: [String: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Why each cannot be delivered, by name.
    var reasons: [String: TrackerError] { entries.mapValues(\.reason) }

    /// What to do with events of a name; `nil` if they are not broken.
    func handling(of name: String, now: Duration) -> Handling? {
        guard let entry = entries[name] else { return nil }
        return now < entry.nextProbe ? .park(entry.reason) : .probe(entry.reason)
    }

    /// Notes that events of a name cannot be delivered; returns whether that is new.
    ///
    /// One of them is tried again after `pause`, or later if the last probe took long: all probes together take at most a tenth
    /// of the time, because the other events wait during a probe.
    mutating func note(
        _ name: String,
        _ reason: TrackerError,
        after probe: Duration,
        pause: Duration,
        now: Duration
    ) -> Bool {
        let count = entries[name] == nil ? entries.count + 1 : entries.count
        let entry = Entry(
            reason: reason,
            since: entries[name]?.since ?? now,
            nextProbe: now + max(pause, probe * (10 * count))
        )
        return entries.updateValue(entry, forKey: name) == nil
    }

    /// Forgets all other names, and lets one event of each of these be tried at once.
    mutating func revise(keeping names: Set<String>) {
        entries = entries.filter { names.contains($0.key) }
        for name in entries.keys { entries[name]?.nextProbe = .zero }
    }

    /// Whether the events of a name are known to be undeliverable.
    func contains(_ name: String) -> Bool { entries[name] != nil }

    /// Notes that events of a name can be delivered again; returns how long they could not.
    mutating func remove(_ name: String, now: Duration) -> Duration {
        entries.removeValue(forKey: name).map { now - $0.since } ?? .zero
    }
}
