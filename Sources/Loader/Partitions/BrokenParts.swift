import TrackerKit

/// The parts of a destination that accept nothing, and how long a partition has waited for each of them.
///
/// The events of a part are refused once it has accepted nothing for the patience while others were accepted. That goes on until it has
/// accepted nothing for the last time long ago, because batches without events for it do not show that it is repaired.
struct BrokenParts: Sendable {
    private struct Entry: Sendable {
        /// Since when the part accepts nothing while others do; `nil` as long as nothing has shown that they do.
        var since: Duration?
        /// When it was last tried.
        let tried: Duration
    }

    private let limits: LoadLimits
    private var entries: [String: Entry] = [:]

    init(limits: LoadLimits) {
        self.limits = limits
    }

    /// The parts whose events are refused if they accept nothing.
    func refusing(now: Duration) -> Set<String> {
        Set(entries.filter { entry in entry.value.since.map { now >= $0 + limits.patience } ?? false }.keys)
    }

    /// When the last of the parts was last tried; `nil` if there are none.
    var triedAt: Duration? { entries.values.map(\.tried).max() }

    /// Forgets the parts that were last tried long ago, but none while nothing succeeds.
    mutating func forgetExpired(now: Duration, isFailing: Bool) {
        if !isFailing { entries = entries.filter { now < $0.value.tried + limits.brokenMemory } }
    }

    /// Records were committed; events of `parts`, which accepted nothing, were refused.
    ///
    /// Parts that are waited for, and not among them, have accepted their events.
    mutating func committed(refusing refused: Set<String>, _ parts: Set<String>, now: Duration) {
        entries = entries.filter { refused.contains($0.key) }
        note(parts, acceptsOthers: true, now: now)
    }

    /// The destination was unavailable, so the waits begin anew.
    mutating func outage() {
        for part in entries.keys { entries[part]?.since = nil }
    }

    /// Some parts have accepted nothing, and nothing was committed; returns when the events of all of them may be refused, if they do not
    /// accept anything until then and others do.
    mutating func broken(_ parts: Set<String>, acceptsOthers: Bool, now: Duration) -> Duration? {
        note(parts, acceptsOthers: acceptsOthers, now: now)
        return parts.compactMap { entries[$0]?.since }.max().map { $0 + limits.patience }
    }

    private mutating func note(_ parts: Set<String>, acceptsOthers: Bool, now: Duration) {
        for part in parts {
            // That no other part was tried meanwhile does not end a wait.
            entries[part] = Entry(since: entries[part]?.since ?? (acceptsOthers ? now : nil), tried: now)
        }
    }
}
