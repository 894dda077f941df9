/// The events, by name, that a tracker does not accept although it accepts others, and since when.
///
/// They are parked if that lasts. It is forgotten when the tracker accepts nothing any more for another reason, because it may have
/// become unavailable: then no other event shows that the fault is theirs.
package struct StuckEvents: Sendable {
    private struct Entry: Sendable {
        var count: Int
        var isWholeName: Bool
        var reason: TrackerError
        let since: Duration
    }

    private var entries: [String: Entry] = [:]

    package init() {}

    /// Since when the first of them have been stuck; `nil` if there are none.
    package var since: Duration? { entries.values.map(\.since).min() }

    /// Since when events of a name have been stuck; `nil` if none are known to be.
    package func since(_ name: String) -> Duration? { entries[name]?.since }

    /// Why events of a name are stuck.
    package func reason(_ name: String) -> TrackerError? { entries[name]?.reason }

    /// Whether the last attempt found that no event of a name is accepted.
    package func isWholeName(_ name: String) -> Bool { entries[name]?.isWholeName ?? false }

    /// Whether so many events of a name can be the ones that are stuck.
    package func contains(_ count: Int, of name: String) -> Bool {
        entries[name].map { $0.isWholeName || count <= $0.count } ?? false
    }

    /// Whether a failure is one with which events are stuck.
    package func explains(_ failure: TrackerError) -> Bool {
        entries.values.contains { $0.reason.isLike(failure) }
    }

    /// Replaces them with those of an attempt in which the tracker accepted others.
    package mutating func replace(with found: [StuckGroup], now: Duration) {
        let earlier = entries
        entries = [:]
        for group in found {
            if var entry = entries[group.name] {
                entry.count += group.positions.count
                entry.isWholeName = entry.isWholeName && group.isWholeName
                entries[group.name] = entry
            } else {
                entries[group.name] = Entry(
                    count: group.positions.count,
                    isWholeName: group.isWholeName,
                    reason: group.reason,
                    since: earlier[group.name]?.since ?? now
                )
            }
        }
    }

    /// Notes an attempt in which the tracker accepted nothing: events of these names are left, for this reason.
    package mutating func keep(_ names: Set<String>, failing reason: TrackerError) {
        entries = explains(reason) ? entries.filter { names.contains($0.key) } : [:]
    }
}

/// Events of one name that a tracker does not accept although it accepts others.
package struct StuckGroup: Sendable {
    package let name: String
    /// Their positions in the delivery, ascending.
    package let positions: [Int]
    /// Why they are not accepted.
    package let reason: TrackerError
    /// Whether no event of the name is accepted; otherwise each of these was tried by itself.
    package let isWholeName: Bool

    package init(name: String, positions: [Int], reason: TrackerError, isWholeName: Bool) {
        self.name = name
        self.positions = positions
        self.reason = reason
        self.isWholeName = isWholeName
    }

    /// The same with other positions.
    package func at(_ positions: [Int]) -> StuckGroup {
        StuckGroup(name: name, positions: positions, reason: reason, isWholeName: isWholeName)
    }
}
