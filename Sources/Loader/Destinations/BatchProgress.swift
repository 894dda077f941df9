/// What was done for a batch of a partition that is tried again, so that nothing is delivered or kept twice as long as the process keeps
/// the partition.
struct BatchProgress {
    /// The offsets of the records whose events are delivered.
    var delivered: Set<Int64> = []
    /// The offsets of the records that are in the quarantine.
    var kept: Set<Int64> = []
    /// Since when events wait that the tracker does not accept, by name.
    var waits: [String: Duration] = [:]

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
        return count
    }
}
