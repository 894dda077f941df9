/// What is to be done after a decision of `DispatchState`, once the lock is released.
package struct DispatchActions: Sendable {
    /// A queue's events that were dropped.
    package struct Drop: Sendable {
        package let queue: Int
        package let events: Int
        /// How many events a line in the log should speak of now; `nil` for no line.
        package let notice: Int?
    }

    /// The workers to be woken.
    package var wakes: QueueSet = []
    /// Whether the supervisor is to be woken.
    package var wakesSupervisor = false
    /// Whether the committer is to be woken.
    package var wakesCommitter = false
    /// The submissions that waited and are acknowledged now.
    package var acknowledged: [WaitingSubmission] = []
    /// The submissions that waited and are turned down now.
    package var turnedDown: [(submission: WaitingSubmission, error: SubmissionError)] = []
    /// The flushes that are over.
    package var flushed: [@Sendable () -> Void] = []
    /// What full queues dropped.
    package var drops: [Drop] = []

    package init() {}
}

/// A submission that waits for room, or for its commit to the journal; the memory of its batch is its sender's until it is acknowledged.
package final class WaitingSubmission: Sendable {
    package let number: UInt64
    package let batch: RoutedBatch
    package let completion: @Sendable (Result<Void, SubmissionError>) -> Void

    init(
        number: UInt64,
        batch: RoutedBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void
    ) {
        self.number = number
        self.batch = batch
        self.completion = completion
    }
}
