/// Tells how old segments are, without trusting one reading of the wall clock.
///
/// While the journal is open, ages grow by a monotonic clock. What the wall clock says of the time since the last commit before the
/// opening counts only after an hour: a clock that is a week ahead can be put right until then, and removes nothing.
struct SegmentAges: Sendable {
    /// How long a journal is open before the time between its last commit and its opening counts.
    static let gapCountsAfter = Duration.seconds(3600)

    /// The wall clock's time at the opening, in microseconds since 1970.
    private let openedAt: Int64
    /// When the last commit before was made, by the clock of that time; the opening where there is none.
    private let lastCommit: Int64
    /// The number of the first event that is committed after the opening.
    private let firstSequence: UInt64

    init(openedAt: Int64, lastCommit: Int64?, firstSequence: UInt64) {
        self.openedAt = openedAt
        self.lastCommit = lastCommit ?? openedAt
        self.firstSequence = firstSequence
    }

    /// How long ago a segment's last commit was made; `now` is the opening's time and what a monotonic clock has counted since.
    ///
    /// A segment without a frame is as old as any.
    func age(of segment: Segment, now: Int64) -> Duration {
        guard segment.committedAt > .min else { return .seconds(Int64.max) }
        guard segment.name.firstSequence < firstSequence else { return .from(segment.committedAt, to: now) }
        let open = Duration.from(openedAt, to: now)
        // Negative where the clock was put back.
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
