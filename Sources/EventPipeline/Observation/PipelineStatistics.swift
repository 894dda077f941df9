/// What a pipeline has done since it was made, at one moment.
public struct PipelineStatistics: Sendable, Hashable {
    /// Events that were acknowledged.
    public var accepted = 0
    /// Acknowledged events that went nowhere, because none of their trackers is configured.
    public var unrouted = 0
    /// Batches that wait for room at this moment.
    public var waitingBatches = 0
    /// One entry a tracker, in the order in which they were given to the pipeline.
    public var trackers: [TrackerStatistics] = []

    /// The statistics of one tracker, named without regard to case.
    public subscript(tracker name: String) -> TrackerStatistics? {
        let name = name.lowercased()
        return trackers.first { $0.name.lowercased() == name }
    }
}

/// What became of the events of one tracker: `enqueued` is the sum of `delivered`, `refused`, `parked`, `dropped` and
/// `pendingEvents`.
///
/// After `run` has returned, what is pending was not delivered.
public struct TrackerStatistics: Sendable, Hashable {
    /// How a tracker gets on.
    public struct Status: Sendable, Hashable, CustomStringConvertible {
        /// The status's stable text.
        public let description: String

        /// It has not started so far, and is tried again where that failed.
        public static let starting = Status(description: "starting")
        /// It delivers, or has nothing to deliver.
        public static let delivering = Status(description: "delivering")
        /// A delivery failed, which may pass by itself, and is tried again.
        public static let retrying = Status(description: "retrying")
        /// A start or delivery failed, and somebody has to change something; it is tried again all the same.
        public static let blocked = Status(description: "blocked")
        /// The pipeline has run.
        public static let stopped = Status(description: "stopped")
    }

    /// The tracker's name.
    public let name: String
    /// How it gets on.
    public var status = Status.starting
    /// Why it is `starting`, `retrying` or `blocked`: the error of the last start or delivery, in one sentence.
    public var reason: String?
    /// Events that were meant for the tracker; those that an earlier run left in the journal count when they are read.
    public var enqueued = 0
    /// Events that it delivered.
    public var delivered = 0
    /// Events that it refused permanently; they are in the quarantine.
    public var refused = 0
    /// Events that were parked in the quarantine: they could not be delivered while others could.
    public var parked = 0
    /// The names of the events that cannot be delivered at this time while others can, each with the reason.
    public var brokenEvents: [String: String] = [:]
    /// Events that its full queue dropped, as its policy says, and those that the journal lost or its retention removed.
    ///
    /// What an earlier run left, and damage took, counts for every tracker that had not read it: nobody knows whom it named.
    public var dropped = 0
    /// Events that were tried again, counted once for each further try.
    public var retried = 0
    /// Events that are queued or being delivered.
    public var pendingEvents: Int { enqueued - delivered - refused - parked - dropped }
    /// How many bytes the queue accounts for, those of the delivery under way included.
    public var pendingBytes = 0

    init(name: String) {
        self.name = name
    }
}
