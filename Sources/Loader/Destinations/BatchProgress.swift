import TrackerKit

/// What earlier attempts at a batch have achieved, so that nothing is stored twice while the process has the partition, and nothing
/// delivered twice but an event that shows whether the tracker still accepts any.
struct BatchProgress {
    /// How long events have been waiting that the tracker does not accept.
    struct Wait {
        /// When they were first delivered in vain.
        let since: Duration
        /// Since when the tracker is known to accept other events; until then, it may be unavailable.
        var acceptsOthersSince: Duration?
    }

    /// The offsets of the records whose events are delivered.
    var delivered: Set<Int64> = []
    /// The offsets of the records that are in the quarantine.
    var kept: Set<Int64> = []
    /// The waits of events, by name.
    var waits: [String: Wait] = [:]
    /// Why events are stuck, by name, as the tracker has said while it accepted others.
    var stuck: [String: TrackerError] = [:]

    /// Whether nothing is left to do for a record.
    func isSettled(_ offset: Int64) -> Bool { kept.contains(offset) || delivered.contains(offset) }

    /// Ends a batch; returns how many of its records were kept.
    ///
    /// Later records are those of an earlier attempt with a larger batch.
    mutating func finish(before end: Int64) -> Int {
        let count = kept.count { $0 < end }
        delivered = delivered.filter { $0 >= end }
        kept = kept.filter { $0 >= end }
        waits = [:]
        stuck = [:]
        return count
    }
}
