/// The counts of events that a quarantine was given since it was opened.
public struct QuarantineStatistics: Sendable, Hashable {
    /// Events that were stored.
    public var kept = 0
    /// Events that were not stored, because of the size limit, a disk error, or too many at once.
    public var lost = 0
    /// Events that this process or an earlier one stored and that were removed at the size limit to make room for newer ones.
    public var overwritten = 0

    /// Makes counts.
    ///
    /// Default: zero.
    public init(kept: Int = 0, lost: Int = 0, overwritten: Int = 0) {
        self.kept = kept
        self.lost = lost
        self.overwritten = overwritten
    }
}
