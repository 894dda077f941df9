/// Limits the rate of a log message: the first event is logged at once, further ones at most every ten seconds, in sum.
package struct SparseNotice: Sendable {
    private static let interval: Duration = .seconds(10)

    private var silentUntil: Duration?
    private var unreported = 0

    package init() {}

    /// Counts events; if a message is due, returns the number of events that it should report.
    package mutating func add(_ events: Int, now: Duration) -> Int? {
        unreported += events
        if let silentUntil, now < silentUntil { return nil }
        silentUntil = now + Self.interval
        defer { unreported = 0 }
        return unreported
    }
}
