/// A snapshot of what a pipeline has done since its creation.
public struct PipelineStatistics: Sendable, Hashable {
    /// Events that were acknowledged.
    public var accepted = 0
    /// Acknowledged events that were not delivered, because none of their trackers is configured.
    public var unrouted = 0
    /// Batches that wait for room at this moment.
    public var waitingBatches = 0
    /// Batches that wait for their commit to the journal at this moment, or are being committed.
    public var committingBatches = 0
    /// The trackers' statistics, in the order in which the trackers were given to the pipeline.
    public var trackers: [TrackerStatistics] = []
    /// The journal's statistics; `nil` without a journal.
    public var journal: JournalStatistics?

    package init() {}

    /// The statistics of one tracker, named without regard to case.
    public subscript(tracker name: String) -> TrackerStatistics? {
        let name = name.lowercased()
        return trackers.first { $0.name.lowercased() == name }
    }
}

/// The events of one tracker, by outcome: `enqueued` is the sum of `delivered`, `refused`, `parked`, `dropped` and
/// `pendingEvents`.
///
/// Events that are still pending after `run` has returned were not delivered.
public struct TrackerStatistics: Sendable, Hashable {
    /// The state of a tracker.
    public struct Status: Sendable, Hashable, CustomStringConvertible {
        /// The status's stable text.
        public let description: String

        /// It has not started yet; a failed start is retried.
        public static let starting = Status(description: "starting")
        /// It delivers, or has nothing to deliver.
        public static let delivering = Status(description: "delivering")
        /// A delivery failed with a retryable error, and is retried.
        public static let retrying = Status(description: "retrying")
        /// A start or a delivery failed with an error that somebody must fix; it is retried nevertheless.
        public static let blocked = Status(description: "blocked")
        /// Somebody has paused it with `Pipeline.pause(tracker:)`; its events wait.
        public static let paused = Status(description: "paused")
        /// The pipeline has ended.
        public static let stopped = Status(description: "stopped")

        static let all = [starting, delivering, retrying, blocked, paused, stopped]
    }

    /// The tracker's name.
    public let name: String
    /// Its state.
    public var status = Status.starting
    /// Why it is `starting`, `retrying` or `blocked`: the error of the last start or delivery, in one sentence.
    public var reason: String?
    /// Events for the tracker; those that an earlier run left in the journal count when they are read.
    public var enqueued = 0
    /// Events that it delivered.
    public var delivered = 0
    /// Delivered events that the destination had already, as far as the tracker knows, because it recognizes events by their ids.
    ///
    /// Those of deliveries that had to be split, because some events were broken, are not counted.
    public var alreadyStored = 0
    /// Events that it refused permanently; they are in the quarantine.
    public var refused = 0
    /// Events that were parked in the quarantine: they could not be delivered while others could.
    public var parked = 0
    /// The names of the events that cannot be delivered at this time while others can, each with the reason.
    public var brokenEvents: [String: String] = [:]
    /// Events that its full queue dropped, as its policy says, and those that the journal lost or its retention removed.
    ///
    /// Events of an earlier run that were lost to damage count for every tracker that had not read them, because it is unknown
    /// which trackers they were for.
    public var dropped = 0
    /// Events of people whose data was erased (`sluice forget`); they were dropped before the tracker got them, and are not in
    /// `enqueued`.
    public var forgotten = 0
    /// Events that were tried again, counted once for each further try.
    public var retried = 0
    /// Events that are queued, left to the journal, or being delivered.
    public var pendingEvents: Int { enqueued - delivered - refused - parked - dropped }
    /// Events that the queue holds in memory, those of the delivery under way included.
    public var queuedEvents = 0
    /// How many bytes the queue accounts for, those of the delivery under way included.
    public var pendingBytes = 0
    /// Accepted events that are not settled: `pendingEvents`, and those that an earlier run left in the journal.
    ///
    /// Until the tracker has read those, they count by their numbers in the journal, whichever tracker they are for, and
    /// `lagIsUpperBound` is true.
    public var lagEvents = 0
    /// The number in the journal before which all its events are settled; 0 without a journal.
    public var cursor: UInt64 = 0
    /// Whether some of these events may be for other trackers only.
    public var lagIsUpperBound = false
    /// How long the oldest of these events has waited since it was accepted; `nil` if there is none, or while the journal is
    /// being asked when an earlier run accepted it.
    ///
    /// For queued events that arrived close together it may be the time of the first of up to 256 of them.
    public var lag: Duration?

    package init(name: String) {
        self.name = name
    }
}

/// The size of a pipeline's journal.
public struct JournalStatistics: Sendable, Hashable {
    /// A file of the journal.
    public struct Part: Sendable, Hashable {
        /// The number of its first event.
        public let firstSequence: UInt64
        /// The number after its last event.
        public let nextSequence: UInt64
        /// Its size, in bytes.
        public let byteCount: Int
    }

    /// The size of all segments, in bytes.
    public let byteCount: Int
    /// The segments, the oldest first.
    public let parts: [Part]
    /// The number of segments.
    public var segments: Int { parts.count }
    /// How many more bytes it can hold before it accepts no events, by its own limit or by the free space of the disk when that
    /// was last asked for.
    public let roomInBytes: Int
}
