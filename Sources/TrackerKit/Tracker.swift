public import EventValidation

/// A destination of events, also called a sink.
///
/// Each tracker has its own queue and worker, so a slow or failing tracker does not delay the others. To write one,
/// implement `deliver`, or conform to `SingleEventTracker` and implement `track`. The pipeline and the tracker promise
/// each other:
///
/// - **Order.** `start` returns before the first `deliver`, and the last `deliver` returns before `stop`. `deliver` is
///   called for one delivery at a time, and deliveries come in the order in which their events were accepted.
/// - **Repetition.** Delivery is at least once: a delivery may be repeated, whole or in part, after an outcome with a
///   retry and after a restart. An event keeps its id, which is the idempotency key. A tracker whose destination can
///   detect duplicates by the id should make repetition harmless; if the destination has transactions, the tracker can
///   prevent repetition as a `CheckpointingTracker`.
/// - **Failure.** An outage is a `retry`; an event that the destination will never accept is a `refusal`. A tracker does
///   not retry on its own for longer than a delivery's time limit, and never drops an event silently. `start` and
///   `deliver` classify the destination's errors in the same way.
/// - **Cancellation.** When the task is cancelled, `deliver` returns within a second, with a `retry` for every event that
///   is not known to be delivered. It does not return while anything still reads the delivery's memory.
/// - **Blocking.** Calls that block run on a thread of their own (`BlockingThread`), never on the cooperative pool.
///
/// `TrackerContract` in SluiceTesting tests a tracker against these promises.
public protocol Tracker: Sendable {
    /// The name that the plan's events use for this tracker; compared case-insensitively.
    var name: String { get }

    /// How many events the tracker wants at a time, and how long they wait for more; `nil` if the pipeline's configuration decides.
    ///
    /// Default: `nil`. State them if a call costs the tracker far more than an event does. They are read once, and what an operator
    /// states for the tracker takes precedence.
    var deliveryLimits: DeliveryLimits? { get }

    /// Checks the tracker's settings, such as addresses and property names, without using the network or reading files.
    ///
    /// The pipeline's initializer calls it once and throws its error. This is the only way for a tracker to keep a pipeline
    /// from running, so it should report only mistakes that last until the program is started with other settings. It is called
    /// again before the plan is replaced, possibly during a delivery; an error keeps the earlier plan in use. Problems
    /// that only the destination can report belong in `start`, and so does an unreadable file, which may appear later.
    ///
    /// - Throws: `invalidSettings`.
    func checkSettings(for catalog: EventCatalog) throws(TrackerError)

    /// Connects to the destination and checks whether it can accept the catalog's events.
    ///
    /// After an error the pipeline calls it again, with exponential backoff, for as long as it runs, because somebody may fix
    /// the destination. Until then events wait in the journal, or in the tracker's queue. It is also called after a `deliver`
    /// that returned `superseded`, and, with another catalog, between two deliveries after the plan was replaced; what an earlier
    /// call acquired is then still in use.
    ///
    /// - Throws: The reason why the tracker cannot deliver; `isRetryable` says whether a retry can succeed.
    func start(for catalog: EventCatalog) async throws(TrackerError)

    /// Delivers events and returns the outcome of each.
    ///
    /// If only a part of the destination fails, such as one table of several, the outcome's retry names the events of that
    /// part, and the others are delivered.
    func deliver(_ delivery: Delivery) async -> DeliveryOutcome

    /// Releases everything that `start` acquired. Called once, also after a `start` that failed.
    func stop() async
}

extension Tracker {
    /// None, so that the pipeline's configuration decides.
    public var deliveryLimits: DeliveryLimits? { nil }

    /// Finds no problem; for trackers without settings.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {}

    /// Does nothing; for trackers without a connection.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {}

    /// Does nothing; for trackers that hold no resources.
    public func stop() async {}
}

/// A tracker that can report problems with its destination without delivering anything; `sluice check` calls it.
public protocol CheckableTracker: Tracker {
    /// Connects and compares the destination with what the catalog's events need; changes nothing there.
    ///
    /// If the pipeline will have a journal, a `CheckpointingTracker` also checks the place where it stores checkpoints; if it loads
    /// partitions, the tracker checks the place where it stores their offsets. Returns within a second of cancellation; the caller
    /// sets the time limit.
    ///
    /// - Returns: Every problem found, each with a remedy in its message; empty if events can be delivered.
    func problems(in pipeline: PipelineOutline) async -> [TrackerError]
}

/// What a tracker needs to know of the pipeline that it will be part of, to check its destination.
public struct PipelineOutline: Sendable {
    /// The events that will be delivered.
    public var catalog: EventCatalog
    /// Whether the pipeline will have a journal.
    public var hasJournal: Bool
    /// Whether `sluice load` will load partitions of a Kafka topic, whose offsets the tracker stores.
    public var loadsPartitions: Bool

    /// Outlines a pipeline.
    public init(catalog: EventCatalog, hasJournal: Bool, loadsPartitions: Bool = false) {
        self.catalog = catalog
        self.hasJournal = hasJournal
        self.loadsPartitions = loadsPartitions
    }
}
