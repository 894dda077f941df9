/// Says when a thing that happens often is worth a line in the log: at once, then at most every ten seconds.
package struct SparseNotice: Sendable {
    private static let interval: Duration = .seconds(10)

    private var silentUntil: Duration?
    private var unreported = 0

    package init() {}

    /// Counts `events` more; when it is time for a line, returns how many it should speak of.
    package mutating func add(_ events: Int, now: Duration) -> Int? {
        unreported += events
        if let silentUntil, now < silentUntil { return nil }
        silentUntil = now + Self.interval
        defer { unreported = 0 }
        return unreported
    }
}
