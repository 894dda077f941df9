/// What a queue does with events for which it has no room.
public enum FullPolicy: String, Sendable, Hashable, CaseIterable {
    /// The batch waits, whole, until every queue it needs has room; over HTTP the answer after a while is 503.
    case wait
    /// The queue takes no more, and its tracker goes on from the journal until it has caught up.
    ///
    /// Only with a journal: nothing waits, and nothing is lost. Without one it is `wait`.
    case spill
    /// The queue leaves the new events out; the batch is acknowledged all the same. Counted and logged.
    case dropNewest
    /// The queue forgets its oldest events that are not being delivered. Counted and logged.
    case dropOldest
}

extension Pipeline {
    /// The limits of a pipeline.
    ///
    /// Every one of them has a default that suits a machine of a few gigabytes.
    public struct Configuration: Sendable, Hashable {
        /// The limits of every queue that has none of its own in `queueByTracker`.
        public var queue: Queue
        /// The limits of single queues, by the tracker's name in lower case.
        public var queueByTracker: [String: Queue]
        /// How much is handed to a tracker at one time.
        public var delivery: DeliveryLimits
        /// When a failed start or delivery is tried again.
        public var retry: RetryPolicy
        /// How long queues are drained after the door is closed; then deliveries are cancelled.
        ///
        /// 30 s unless told.
        public var shutdownTimeout: Duration
        /// How long a tracker has to return from a cancelled delivery and to stop; then it is left behind, and the log
        /// says so.
        ///
        /// 5 s unless told.
        public var cancellationGrace: Duration
        /// Where a tracker begins that is new to the journal; others go on where they were.
        ///
        /// At the journal's end unless told. Without a journal it says nothing.
        public var journalStart: JournalStart

        /// Takes the defaults, or what is stated instead.
        public init(
            queue: Queue = Queue(),
            queueByTracker: [String: Queue] = [:],
            delivery: DeliveryLimits = DeliveryLimits(),
            retry: RetryPolicy = RetryPolicy(),
            shutdownTimeout: Duration = .seconds(30),
            cancellationGrace: Duration = .seconds(5),
            journalStart: JournalStart = .end
        ) {
            self.queue = queue
            self.queueByTracker = queueByTracker
            self.delivery = delivery
            self.retry = retry
            self.shutdownTimeout = shutdownTimeout
            self.cancellationGrace = cancellationGrace
            self.journalStart = journalStart
        }

        /// The defaults of a pipeline with a journal: a full queue spills.
        public static let journaled = Configuration(queue: Queue(fullPolicy: .spill))

        /// The limits of one tracker's queue.
        func queue(of tracker: String) -> Queue {
            queueByTracker[tracker.lowercased()] ?? queue
        }
    }

    /// The limits of a queue.
    ///
    /// Events count until their delivery is settled, so the limits bound what a tracker holds in memory, not only
    /// what lies in wait. A batch that is larger than a queue is taken when that queue is empty.
    public struct Queue: Sendable, Hashable {
        /// The most events; 100,000 unless told.
        public var capacityInEvents: Int
        /// The most bytes of canonical JSON; 64 MiB unless told.
        public var capacityInBytes: Int
        /// What to do with events for which there is no room; `wait` unless told.
        public var fullPolicy: FullPolicy

        /// Takes the defaults, or what is stated instead.
        public init(
            capacityInEvents: Int = 100_000,
            capacityInBytes: Int = 64 << 20,
            fullPolicy: FullPolicy = .wait
        ) {
            self.capacityInEvents = capacityInEvents
            self.capacityInBytes = capacityInBytes
            self.fullPolicy = fullPolicy
        }
    }

    /// How much is handed to a tracker at one time.
    public struct DeliveryLimits: Sendable, Hashable {
        /// The most events, at least 1; 10,000 unless told.
        public var maximumEvents: Int
        /// The most bytes of canonical JSON; 8 MiB unless told.
        ///
        /// A larger event is delivered alone.
        public var maximumBytes: Int
        /// How long events wait for company, from the arrival of the first; 100 ms unless told.
        public var linger: Duration

        /// Takes the defaults, or what is stated instead.
        public init(maximumEvents: Int = 10_000, maximumBytes: Int = 8 << 20, linger: Duration = .milliseconds(100)) {
            self.maximumEvents = max(1, maximumEvents)
            self.maximumBytes = maximumBytes
            self.linger = linger
        }
    }
}
