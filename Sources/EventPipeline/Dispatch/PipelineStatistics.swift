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

/// What became of the events of one tracker: `enqueued` is the sum of `delivered`, `refused`, `dropped` and
/// `pendingEvents`.
///
/// After `run` has returned, what is pending was not delivered.
public struct TrackerStatistics: Sendable, Hashable {
    /// The tracker's name.
    public let name: String
    /// Events that were meant for the tracker.
    public var enqueued = 0
    /// Events that it delivered.
    public var delivered = 0
    /// Events that it refused for good; they are in the quarantine.
    public var refused = 0
    /// Events that its full queue dropped, as its policy says, and those that the journal lost or its retention removed.
    public var dropped = 0
    /// Events that were tried again, counted once for each further try.
    public var retried = 0
    /// Events that are queued or being delivered.
    public var pendingEvents: Int { enqueued - delivered - refused - dropped }
    /// How many bytes the queue accounts for, those of the delivery under way included.
    public var pendingBytes = 0

    init(name: String) {
        self.name = name
    }
}
