/// A destination of events.
///
/// Each tracker has a queue and a worker of its own, so what it does holds up nobody else. Its promises, and the
/// pipeline's to it:
///
/// - **Order.** `start` returns before the first `deliver`, and the last `deliver` returns before `stop`. `deliver` is
///   called for one delivery at a time, and deliveries come in the order in which their events were accepted.
/// - **Repetition.** A delivery may come again, whole or in part, after an outcome with a retry and after a restart.
///   Ids stay the same. A tracker whose destination can tell by the id should make the repetition harmless; one whose
///   destination has transactions can keep it from happening, as a `CheckpointingTracker`.
/// - **Failure.** An outage is a `retry`; an event that the destination will never take is a `refusal`. A tracker does
///   not retry on its own for longer than a delivery's time limit, and never drops an event in silence.
/// - **Cancellation.** When the task is cancelled, `deliver` returns soon (within a second) with a `retry` for what is
///   not known to be delivered. It does not return before its work on the batch's memory has ended.
/// - **Blocking.** A call that blocks has a thread of its own, never one of the cooperative pool.
///
/// `TrackerContract` in PipelineTestKit holds a tracker to these promises.
public protocol Tracker: Sendable {
    /// The name by which the plan's events name this tracker; compared without regard to case.
    var name: String { get }

    /// Makes the destination ready: connects, and looks whether it can take what the catalog has for it.
    ///
    /// Called once more after each error with `isRetryable`, with a growing pause; any other error keeps the pipeline
    /// from starting.
    func start(for catalog: EventCatalog) async throws(TrackerError)

    /// Delivers events, and says what became of each.
    func deliver(_ delivery: Delivery) async -> DeliveryOutcome

    /// Gives everything back that `start` took. Called once, also after a `start` that failed.
    func stop() async
}

extension Tracker {
    /// Does nothing: there is nothing to make ready.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {}

    /// Does nothing: there is nothing to give back.
    public func stop() async {}
}
