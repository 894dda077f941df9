import DequeModule

/// The accepted batches whose senders wait until every tracker has settled them.
///
/// Queues settle their events in order, so only the oldest batch of each queue is ever looked at.
struct DeliveryWaits: Sendable {
    private typealias Mark = (mark: QueueMark, number: UInt64)

    private var waits: [UInt64: (submission: WaitingSubmission, pending: QueueSet)] = [:]
    /// For each queue what must be settled, oldest first.
    private var marks: [Deque<Mark>]

    init(queueCount: Int) {
        marks = Array(repeating: [], count: queueCount)
    }

    var isEmpty: Bool { waits.isEmpty }

    /// Whether a batch is delivered, and its sender waits for that.
    func contains(number: UInt64) -> Bool { waits[number] != nil }

    /// Adds a batch, with the queues that have events of it.
    mutating func append(_ submission: WaitingSubmission, until targets: [(queue: TrackerIndex, mark: QueueMark)]) {
        var pending: QueueSet = []
        for (queue, mark) in targets {
            pending.insert(queue)
            marks[queue].append((mark, submission.number))
        }
        waits[submission.number] = (submission, pending)
    }

    /// Notes how far a queue is settled; removes and returns the batches that are settled in all queues now.
    mutating func settle(_ queue: TrackerIndex, to mark: QueueMark) -> [WaitingSubmission] {
        var over: [WaitingSubmission] = []
        while let first = marks[queue].first, mark.reaches(first.mark) {
            marks[queue].removeFirst()
            waits[first.number]?.pending.remove(queue)
            if let wait = waits[first.number], wait.pending.isEmpty {
                waits[first.number] = nil
                over.append(wait.submission)
            }
        }
        return over
    }

    /// Removes and returns a batch.
    mutating func remove(number: UInt64) -> WaitingSubmission? {
        // Its marks stay, and are skipped when the queues reach them.
        waits.removeValue(forKey: number)?.submission
    }

    /// Removes and returns the batches that wait for a queue.
    mutating func removeAll(of queue: TrackerIndex) -> [WaitingSubmission] {
        let numbers = marks[queue].map(\.number)
        marks[queue] = []
        return numbers.compactMap { waits.removeValue(forKey: $0)?.submission }
    }

    /// Removes and returns all batches.
    mutating func removeAll() -> [WaitingSubmission] {
        marks.trackerIndices.flatMap { removeAll(of: $0) }
    }
}
