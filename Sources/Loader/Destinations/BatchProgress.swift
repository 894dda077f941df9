/// What was done for a batch that is tried again, so that nothing is delivered or kept twice as long as the process runs.
struct BatchProgress {
    /// The offsets of the records whose events are delivered.
    var delivered: Set<Int64> = []
    /// The offsets of the records that are in the quarantine.
    var kept: Set<Int64> = []
    /// When an attempt last failed.
    var failedAt: Duration?
    /// Since when the tracker has accepted other events than those that are left.
    var waitsSince: Duration?

    /// Whether nothing is left to do for a record.
    func isSettled(_ offset: Int64) -> Bool { kept.contains(offset) || delivered.contains(offset) }

    /// Ends a batch; returns how many of its records were kept.
    ///
    /// Later records are those of an earlier attempt with a larger batch.
    mutating func finish(before end: Int64) -> Int {
        let count = kept.count { $0 < end }
        delivered = delivered.filter { $0 >= end }
        kept = kept.filter { $0 >= end }
        (failedAt, waitsSince) = (nil, nil)
        return count
    }
}
