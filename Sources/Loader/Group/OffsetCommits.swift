/// The offsets that a member commits to Kafka: the positions of a tracker that stores none, and otherwise for tools that show lag.
struct OffsetCommits: Sendable {
    /// How often offsets are committed for tools, and how long nothing is committed after a failure.
    private static let pause = Duration.seconds(5)
    /// How long nothing is committed after a failure while partitions wait to be given back.
    private static let lastPause = Duration.milliseconds(500)

    /// Whether the tracker's positions are these offsets, so that they are committed at once.
    private let arePositions: Bool
    /// What is not committed.
    private var waiting: [Int32: Int64] = [:]
    /// Nothing is committed before this time, unless the positions depend on it and the last commit has not failed.
    private var dueAt: Duration = .zero
    private var isFailing = false
    /// How many commits have no answer.
    private var unanswered = 0

    init(arePositions: Bool) {
        self.arePositions = arePositions
    }

    /// Whether everything on which a tracker's positions depend is committed.
    var areSettled: Bool { !arePositions || (waiting.isEmpty && unanswered == 0) }

    /// The records before this offset are loaded.
    mutating func add(_ offset: Int64, of partition: Int32) { waiting[partition] = offset }

    /// Drops what is not committed, because it belongs to partitions that others may have loaded further since.
    mutating func discard() { waiting = [:] }

    /// The offsets to commit now, if any.
    mutating func takeDue(now: Duration) -> [Int32: Int64] {
        guard now >= dueAt || (arePositions && !isFailing) else { return [:] }
        return takeAll(now: now)
    }

    /// The partitions wait to be given back, so a pause after a failure is short from now on.
    mutating func beginLast(now: Duration) { dueAt = min(dueAt, now + Self.lastPause) }

    /// The offsets to commit before partitions are given back, if any.
    mutating func takeLast(now: Duration) -> [Int32: Int64] {
        // For tools, it is tried once.
        guard now >= dueAt || !isFailing || !arePositions else { return [:] }
        return takeAll(now: now)
    }

    /// All offsets that are not committed.
    mutating func takeAll(now: Duration) -> [Int32: Int64] {
        dueAt = now + Self.pause
        guard !waiting.isEmpty else { return [:] }
        unanswered += 1
        defer { waiting = [:] }
        return waiting
    }

    mutating func succeeded() {
        unanswered -= 1
        isFailing = false
    }

    /// A commit could not be sent, or Kafka has refused it.
    ///
    /// `offsets` says up to where the member's present partitions are loaded; these offsets are committed next. With `isLast`,
    /// partitions wait for that commit before they are given back, so the pause is shorter.
    mutating func failed(_ offsets: [Int32: Int64], isLast: Bool, now: Duration) {
        unanswered -= 1
        isFailing = true
        waiting.merge(offsets) { $1 }
        dueAt = now + (isLast ? Self.lastPause : Self.pause)
    }
}
