import DequeModule

/// The batches on their way to the journal: admitted, and neither committed nor turned down.
///
/// They are in memory and in no tracker's queue, so they have a limit of their own for senders that do not wait. A batch that
/// has gathered can still be withdrawn; of one whose commit is being written nobody can say whether the journal will have it.
struct CommitQueue: Sendable {
    /// The most bytes of events in one commit, if not a single batch has more.
    static let maximumBytes = 4 << 20

    private typealias Entry = (position: UInt64, submission: WaitingSubmission)

    /// The position that the next batch gets.
    private(set) var tail: UInt64 = 0
    /// Those of the commit that is being written.
    private var writing: [Entry] = []
    /// Those of the commits to come, in their order.
    private var gathered: Deque<Entry> = []
    private var events = 0
    private var bytes = 0

    var isEmpty: Bool { writing.isEmpty && gathered.isEmpty }
    /// How many events are in the commit that is being written.
    var eventsBeingWritten: Int { writing.reduce(0) { $0 + $1.submission.batch.count } }
    /// The position before which every batch was committed or turned down.
    var settledPosition: UInt64 { (writing.first ?? gathered.first)?.position ?? tail }

    /// Whether a batch may come besides, by the limits of a queue; one that is larger than they are comes alone.
    func hasRoom(for batch: RoutedBatch, limits: Pipeline.Queue) -> Bool {
        isEmpty
            || events + batch.count <= limits.capacityInEvents
                && bytes + batch.batch.byteCount <= limits.capacityInBytes
    }

    mutating func append(_ submission: WaitingSubmission) {
        gathered.append((tail, submission))
        tail += 1
        events += submission.batch.count
        bytes += submission.batch.batch.byteCount
    }

    /// Takes the batches of the next commit, which begins now; none where nothing has gathered.
    mutating func beginCommit(maximumBytes: Int) -> [RoutedBatch] {
        var taken = 0
        while let next = gathered.first {
            taken += next.submission.batch.batch.byteCount
            guard writing.isEmpty || taken <= maximumBytes else { break }
            writing.append(gathered.removeFirst())
        }
        return writing.map(\.submission.batch)
    }

    /// Ends the commit that is being written; returns its batches, which are not on their way any more.
    mutating func endCommit() -> [WaitingSubmission] {
        let ended = writing.map(\.submission)
        writing = []
        for submission in ended { settle(submission) }
        return ended
    }

    /// What becomes of a batch that somebody does not want to wait for any more.
    enum Withdrawal {
        case withdrawn(WaitingSubmission)
        /// Its commit is being written.
        case committing
        /// It is not on its way.
        case unknown
    }

    /// Takes back a batch that has gathered.
    mutating func withdraw(number: UInt64) -> Withdrawal {
        if writing.contains(where: { $0.submission.number == number }) { return .committing }
        guard let place = gathered.firstIndex(where: { $0.submission.number == number }) else { return .unknown }
        let submission = gathered.remove(at: place).submission
        settle(submission)
        return .withdrawn(submission)
    }

    /// Gives up all that has gathered, and then the commit that is being written.
    mutating func abandon() -> (gathered: [WaitingSubmission], writing: [WaitingSubmission]) {
        let waiting = gathered.map(\.submission)
        gathered = []
        for submission in waiting { settle(submission) }
        return (waiting, endCommit())
    }

    private mutating func settle(_ submission: WaitingSubmission) {
        events -= submission.batch.count
        bytes -= submission.batch.batch.byteCount
    }
}
