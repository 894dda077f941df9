import DequeModule

/// A batch that waits for room or for its commit to the journal.
///
/// Its memory belongs to its sender until it is acknowledged.
package final class WaitingSubmission: Sendable {
    package typealias Completion = @Sendable (Result<Pipeline.Acknowledgement, TrackError>) -> Void

    package let number: UInt64
    package let batch: RoutedBatch
    package let completion: Completion

    init(
        number: UInt64,
        batch: RoutedBatch,
        completion: @escaping Completion
    ) {
        self.number = number
        self.batch = batch
        self.completion = completion
    }
}

/// The batches that wait for room in the queues, oldest first.
///
/// Batches that need the same full queue are admitted in the order of their arrival. A batch that waits closes only the queues
/// that are full for it, not all queues it needs: otherwise a dead tracker would hold up the events of others. In return, a
/// batch that needs two queues that are both always full is admitted only when both have room at the same time.
package struct WaitingList: Sendable {
    private var submissions: Deque<WaitingSubmission> = []
    /// The queues that lack room for a batch that waits; no later batch may enter these.
    private(set) var barrier: QueueSet = []
    /// The barrier before the turn that is under way, and the place in the list that it has reached.
    private var turn: (barrier: QueueSet, place: Int) = ([], 0)

    package var isEmpty: Bool { submissions.isEmpty }
    /// The batch that has waited longest.
    package var first: WaitingSubmission? { submissions.first }
    package var count: Int { submissions.count }

    mutating func append(_ submission: WaitingSubmission, lacking queues: QueueSet) {
        barrier.formUnion(queues)
        submissions.append(submission)
    }

    mutating func remove(number: UInt64) -> WaitingSubmission? {
        let place = submissions.partitioningIndex { $0.number >= number }
        guard place < submissions.count, submissions[place].number == number else { return nil }
        return submissions.remove(at: place)
    }

    mutating func removeAll() -> [WaitingSubmission] {
        defer { self = WaitingList() }
        return Array(submissions)
    }

    /// Begins to go through the list, because a queue may have room again or a batch was withdrawn.
    mutating func beginTurn() {
        turn = (barrier, 0)
        barrier = []
    }

    /// The next batch that may have room; `nil` at the end of the turn.
    ///
    /// Every batch needs a queue of the old barrier, so once the new barrier contains all of it, no later batch can be admitted.
    var next: WaitingSubmission? {
        turn.place < submissions.count && !barrier.isSuperset(of: turn.barrier) ? submissions[turn.place] : nil
    }

    /// Removes the next batch if it can be admitted, which this returns; otherwise closes the queues that lack room for it.
    mutating func endTurn(ofNext lacking: QueueSet) -> Bool {
        if lacking.isEmpty, barrier.isDisjoint(with: submissions[turn.place].batch.queues) {
            submissions.remove(at: turn.place)
            return true
        }
        barrier.formUnion(lacking)
        turn.place += 1
        return false
    }
}

extension Deque {
    /// The first place whose element fulfils `predicate`, if all elements that fulfil it are at the end.
    fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
