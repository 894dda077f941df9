/// Determines the age of segments without relying on a single reading of the wall clock.
///
/// While the journal is open, ages grow by a monotonic clock. The gap between the last commit before the opening and the opening
/// itself is known only from the wall clock, so it counts only after an hour: a clock that is a week ahead can be corrected
/// until then, and no segment is removed because of it.
struct SegmentAges: Sendable {
    /// How long a journal has to be open before the gap before its opening counts.
    static let gapCountsAfter = Duration.seconds(3600)

    /// The time of the opening, by the wall clock, in microseconds since 1970.
    private let openedAt: Int64
    /// The time of the last commit before the opening; the opening if there is none.
    private let lastCommit: Int64
    /// The sequence number of the first event after the opening.
    private let firstSequence: UInt64

    init(openedAt: Int64, lastCommit: Int64?, firstSequence: UInt64) {
        self.openedAt = openedAt
        self.lastCommit = lastCommit ?? openedAt
        self.firstSequence = firstSequence
    }

    /// The time since a segment's last commit; `now` is the time of the opening plus the time that a monotonic clock has
    /// measured since.
    ///
    /// A segment without frames has the greatest age.
    func age(of segment: Segment, now: Int64) -> Duration {
        guard segment.committedAt > .min else { return .seconds(Int64.max) }
        guard segment.name.firstSequence < firstSequence else { return .from(segment.committedAt, to: now) }
        let open = Duration.from(openedAt, to: now)
        // Negative if the clock was set back.
        let gap = max(Duration.zero, Duration.from(lastCommit, to: openedAt))
        let before = Duration.from(segment.committedAt, to: lastCommit)
        return open + before + (open >= Self.gapCountsAfter ? gap : .zero)
    }
}

extension Duration {
    /// From one time to another, both in microseconds since 1970.
    static func from(_ start: Int64, to end: Int64) -> Duration {
        .microseconds(end) - .microseconds(start)
    }
}
