import DequeModule
import EventValidation

/// The admitted batches that are neither committed to the journal nor rejected.
///
/// They are in memory but in no tracker's queue, so they have a limit of their own for senders that do not wait. A batch can be
/// withdrawn until its commit begins; while its commit is being written, the outcome is unknown.
struct CommitQueue: Sendable {
    /// The maximum number of bytes of events in one commit, unless a single batch has more.
    static let maximumBytes = 4 << 20

    private typealias Entry = (position: UInt64, submission: WaitingSubmission)

    /// The position of the next batch.
    private(set) var tail: UInt64 = 0
    /// The batches of the commit that is being written.
    private var writing: [Entry] = []
    /// The batches of later commits, in order.
    private var gathered: Deque<Entry> = []
    private var events = 0
    private var bytes = 0

    var count: Int { writing.count + gathered.count }
    var isEmpty: Bool { writing.isEmpty && gathered.isEmpty }
    /// How many events are in the commit that is being written.
    var eventsBeingWritten: Int { writing.reduce(0) { $0 + $1.submission.batch.count } }
    /// The position before which every batch was committed or rejected.
    var settledPosition: UInt64 { (writing.first ?? gathered.first)?.position ?? tail }

    /// Whether there is room for a batch within the limits of a queue; a larger batch is admitted alone.
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

    /// Begins the next commit; returns its batches, or none if none wait.
    mutating func beginCommit(maximumBytes: Int) -> [RoutedBatch] {
        var taken = 0
        while let next = gathered.first {
            taken += next.submission.batch.batch.byteCount
            guard writing.isEmpty || taken <= maximumBytes else { break }
            writing.append(gathered.removeFirst())
        }
        return writing.map(\.submission.batch)
    }

    /// Ends the commit that is being written, and removes and returns its batches.
    mutating func endCommit() -> [WaitingSubmission] {
        let ended = writing.map(\.submission)
        writing = []
        for submission in ended { settle(submission) }
        return ended
    }

    /// The result of `withdraw`.
    enum Withdrawal {
        case withdrawn(WaitingSubmission)
        /// Its commit is being written.
        case committing
        /// It is not in the queue.
        case unknown
    }

    /// Withdraws a batch whose commit has not begun.
    mutating func withdraw(number: UInt64) -> Withdrawal {
        if writing.contains(where: { $0.submission.number == number }) { return .committing }
        guard let place = gathered.firstIndex(where: { $0.submission.number == number }) else { return .unknown }
        let submission = gathered.remove(at: place).submission
        settle(submission)
        return .withdrawn(submission)
    }

    /// Gives up all batches.
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
