/// What to do after decisions of `DispatchState`, once the lock is released.
///
/// The decisions under one lock add to the same actions.
package struct DispatchActions: Sendable {
    /// A queue's events that were dropped.
    package struct Drop: Sendable {
        package let queue: TrackerIndex
        package let events: Int
    }

    /// The workers to wake.
    package var wakes: QueueSet = []
    /// Whether to wake the supervisor.
    package var wakesSupervisor = false
    /// Whether to wake the committer.
    package var wakesCommitter = false
    /// The batches that waited for room and are accepted now.
    package var acknowledged: [WaitingSubmission] = []
    /// The senders that waited, and what they are told now.
    package var answered: [(submission: WaitingSubmission, answer: Result<Pipeline.Acknowledgement, TrackError>)] = []
    /// The flushes that are over.
    package var flushed: [@Sendable () -> Void] = []
    /// The events that full queues dropped.
    package var drops: [Drop] = []

    package init() {}
}
