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
        /// How often a tracker's start is tried in a row before `run` ends with an error; `nil` for no limit.
        ///
        /// Default: `nil`. A pipeline that has to deliver now or fail, as that of a command, states a number; then a failure
        /// that does not pass by itself ends `run` at once.
        public var maximumStartAttempts: Int?
        /// How often a tracker's deliveries may fail in a row without any progress before `run` ends with an error; `nil` for no
        /// limit.
        ///
        /// Default: `nil`. A pipeline that has to deliver now or fail states a number; then a failure that does not pass by
        /// itself ends `run` at once.
        public var maximumDeliveryAttempts: Int?
        /// How long deliveries of some events fail, while the tracker could deliver others, before those events are parked in
        /// the quarantine; `nil` for never.
        ///
        /// Default: 5 minutes. Nothing is parked where the quarantine keeps nothing.
        public var parkAfter: Duration?
        /// How long queues are drained after the door is closed; then deliveries are cancelled.
        ///
        /// Default: 30 s.
        public var shutdownTimeout: Duration
        /// How long a tracker has to return from a cancelled delivery and to stop; then it is left behind, and the log
        /// says so.
        ///
        /// The journal then has the same time to close, and after it the quarantine to write what it was handed.
        ///
        /// Default: 5 s.
        public var cancellationGrace: Duration
        /// How long the journal's disk may take over one thing before its commits count as overdue.
        ///
        /// More than zero; default: 5 s. While they are, the pipeline is not ready and turns down new batches at once; both pass by themselves.
        public var commitOverdueAfter: Duration
        /// Where a tracker begins that is new to the journal; others go on where they were.
        ///
        /// Default: at the journal's end. Ignored without a journal.
        public var journalStart: JournalStart

        /// Takes the defaults, or what is stated instead.
        public init(
            queue: Queue = Queue(),
            queueByTracker: [String: Queue] = [:],
            delivery: DeliveryLimits = DeliveryLimits(),
            retry: RetryPolicy = RetryPolicy(),
            maximumStartAttempts: Int? = nil,
            maximumDeliveryAttempts: Int? = nil,
            parkAfter: Duration? = .seconds(300),
            shutdownTimeout: Duration = .seconds(30),
            cancellationGrace: Duration = .seconds(5),
            commitOverdueAfter: Duration = .seconds(5),
            journalStart: JournalStart = .end
        ) {
            self.queue = queue
            self.queueByTracker = queueByTracker
            self.delivery = delivery
            self.retry = retry
            self.maximumStartAttempts = maximumStartAttempts
            self.maximumDeliveryAttempts = maximumDeliveryAttempts
            self.parkAfter = parkAfter
            self.shutdownTimeout = shutdownTimeout
            self.cancellationGrace = cancellationGrace
            self.commitOverdueAfter = commitOverdueAfter
            self.journalStart = journalStart
        }

        /// The defaults of a pipeline with a journal: a full queue spills.
        public static let journaled = Configuration(queue: Queue(fullPolicy: .spill))

        /// How long `run` takes at most from the request to shut down to its end: for the queues, the trackers, the journal and
        /// the quarantine.
        package var longestShutdown: Duration { shutdownTimeout + cancellationGrace * 3 }

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
        /// The most events.
        ///
        /// Default: 100,000.
        public var capacityInEvents: Int
        /// The most bytes of canonical JSON.
        ///
        /// Default: 64 MiB.
        public var capacityInBytes: Int
        /// What to do with events for which there is no room.
        ///
        /// Default: `wait`.
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
        /// The most events, at least 1.
        ///
        /// Default: 10,000.
        public var maximumEvents: Int
        /// The most bytes of canonical JSON.
        ///
        /// Default: 8 MiB.
        ///
        /// A larger event is delivered alone.
        public var maximumBytes: Int
        /// How long events wait for company, from the arrival of the first.
        ///
        /// Default: 100 ms.
        public var linger: Duration

        /// Takes the defaults, or what is stated instead.
        public init(maximumEvents: Int = 10_000, maximumBytes: Int = 8 << 20, linger: Duration = .milliseconds(100)) {
            self.maximumEvents = max(1, maximumEvents)
            self.maximumBytes = maximumBytes
            self.linger = linger
        }
    }
}
