/// The events, by name, that a tracker does not accept although it accepts others: their table or topic is broken, or some of them are.
///
/// The first of them were retried for the time after which events are parked (`Pipeline.Configuration.parkAfter`). Further ones are
/// parked in the quarantine as they arrive, so that no delivery waits for them. If no event of a name is accepted, they are parked
/// without an attempt, and from time to time one of them is tried: a probe.
package struct BrokenEvents: Sendable {
    /// What to do with events of a broken name.
    package enum Handling: Sendable {
        /// Park them, for this reason.
        case park(TrackerError)
        /// Try one of them first; this is why the last one failed.
        case probe(TrackerError)
    }

    private struct Entry: Sendable {
        let reason: TrackerError
        let isWholeName: Bool
        /// How many events have failed since one was accepted.
        var failures: Int
        let since: Duration
        /// When one of a whole name's events is tried again, or some events of a name are forgotten.
        var end: Duration
    }

    /// How many events of a name have to fail one after the other before none of them is expected to be accepted.
    private static let samples = 4

    private var entries: [String: Entry] = [:]

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// Why no event of a name can be delivered, by name.
    package var reasons: [String: TrackerError] { entries.filter(\.value.isWholeName).mapValues(\.reason) }

    /// What to do with events of a name before they are tried; `nil` if some of them may be accepted.
    package func handling(of name: String, now: Duration) -> Handling? {
        guard let entry = entries[name], entry.isWholeName else { return nil }
        return now < entry.end ? .park(entry.reason) : .probe(entry.reason)
    }

    /// Whether an event of a name is parked as soon as it is not accepted while others are.
    package func parksAtOnce(_ name: String, now: Duration) -> Bool {
        entries[name].map { $0.isWholeName || now < $0.end } ?? false
    }

    /// Notes that events of a name were parked; returns whether it is new that none of them can be delivered.
    ///
    /// `failures` is their number if no event of the name was accepted with them, and otherwise 0. Events that come one by one show
    /// together that none of their name is accepted.
    ///
    /// One of a whole name's events is tried again after `pause`, or later if the last probe took long: all probes together take at
    /// most a tenth of the time, because the other events wait during a probe.
    package mutating func note(
        _ name: String,
        _ reason: TrackerError,
        isWholeName: Bool = true,
        failures: Int = 0,
        after probe: Duration = .zero,
        pause: Duration,
        now: Duration
    ) -> Bool {
        let known = entries[name]
        let failures = failures == 0 ? 0 : (known?.failures ?? 0) + failures
        let isWholeName = isWholeName || failures >= Self.samples
        let count = known == nil ? entries.count + 1 : entries.count
        entries[name] = Entry(
            reason: reason,
            isWholeName: isWholeName,
            failures: failures,
            since: known?.since ?? now,
            end: now + max(pause, probe * (10 * count))
        )
        return isWholeName && known?.isWholeName != true
    }

    /// Notes that events of these names were accepted.
    package mutating func accepted(_ names: Set<String>) {
        for name in names { entries[name]?.failures = 0 }
    }

    /// Forgets all other names, and lets one event of each of these be tried at once.
    package mutating func revise(keeping names: Set<String>) {
        entries = entries.filter { names.contains($0.key) }
        for name in entries.keys { entries[name]?.end = .zero }
    }

    /// Forgets the names of which some events are accepted, and no other has arrived for long.
    package mutating func forgetExpired(now: Duration) {
        guard !entries.isEmpty else { return }
        entries = entries.filter { $0.value.isWholeName || now < $0.value.end }
    }

    /// Whether no event of a name can be delivered.
    package func contains(_ name: String) -> Bool { entries[name]?.isWholeName == true }

    /// Notes that events of a name can be delivered again; returns how long they could not.
    package mutating func remove(_ name: String, now: Duration) -> Duration {
        entries.removeValue(forKey: name).map { now - $0.since } ?? .zero
    }
}
