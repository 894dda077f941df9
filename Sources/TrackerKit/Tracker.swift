public import EventValidation

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
///   not retry on its own for longer than a delivery's time limit, and never drops an event in silence. `start` and
///   `deliver` classify the destination's errors in the same way.
/// - **Cancellation.** When the task is cancelled, `deliver` returns soon (within a second) with a `retry` for what is
///   not known to be delivered. It does not return before its work on the batch's memory has ended.
/// - **Blocking.** A call that blocks has a thread of its own, never one of the cooperative pool.
///
/// `TrackerContract` in SluiceTesting holds a tracker to these promises.
public protocol Tracker: Sendable {
    /// The name by which the plan's events name this tracker; compared without regard to case.
    var name: String { get }

    /// Checks the tracker's settings without using the network and without reading files: a malformed address, an unknown
    /// property.
    ///
    /// Called once when a pipeline is made, which throws what this throws. It is the only way in which a tracker keeps a
    /// pipeline from running, because what is wrong here stays wrong until the program is started with other settings.
    /// What only the destination can tell belongs in `start`, and so does a file that cannot be read: it may come later.
    ///
    /// - Throws: `invalidSettings`.
    func checkSettings(for catalog: EventCatalog) throws(TrackerError)

    /// Makes the destination ready: connects, and checks whether it can take the catalog's events.
    ///
    /// After an error it is called again, with a growing pause, for as long as the pipeline runs: somebody may fix the
    /// destination. Until then events wait in the journal, or in the tracker's queue. Also called after a `deliver` that
    /// answered `superseded`.
    ///
    /// - Throws: What keeps the tracker from delivering. `isRetryable` says whether that may pass by itself.
    func start(for catalog: EventCatalog) async throws(TrackerError)

    /// Delivers events, and says what became of each.
    ///
    /// Where only a part of the destination fails, as one table of many, the outcome names the events of that part in its
    /// retry, and the others are delivered.
    func deliver(_ delivery: Delivery) async -> DeliveryOutcome

    /// Gives everything back that `start` took. Called once, also after a `start` that failed.
    func stop() async
}

extension Tracker {
    /// Finds nothing wrong: there are no settings.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {}

    /// Does nothing: there is nothing to make ready.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {}

    /// Does nothing: there is nothing to give back.
    public func stop() async {}
}
