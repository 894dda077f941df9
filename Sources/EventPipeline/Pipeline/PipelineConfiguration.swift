public import EventModel
public import TrackerKit

extension Pipeline {
    /// The limits of a pipeline.
    ///
    /// The defaults suit a machine with a few gigabytes of memory.
    public struct Configuration: Sendable, Hashable {
        /// The limits of each queue that is not in `queueByTracker`.
        public var queue: Queue
        /// The limits of individual queues, by the tracker's name in lower case.
        public var queueByTracker: [String: Queue]
        /// How many events are handed at a time to each tracker that is not in `deliveryByTracker` and has no `deliveryLimits`
        /// of its own.
        public var delivery: DeliveryLimits
        /// How many events are handed to individual trackers at a time, by the tracker's name in lower case; these take precedence
        /// over the tracker's own `deliveryLimits`.
        public var deliveryByTracker: [String: DeliveryLimits]
        /// When a failed start or delivery is retried.
        public var retry: RetryPolicy
        /// How many failed starts of a tracker in a row end `run` with an error; `nil` for no limit.
        ///
        /// Default: `nil`. Set a number if the pipeline has to deliver now or fail, as in a command; an error that is not
        /// retryable then ends `run` at once.
        public var maximumStartAttempts: Int?
        /// How many failed deliveries of a tracker in a row, without progress, end `run` with an error; `nil` for no limit.
        ///
        /// Default: `nil`. Set a number if the pipeline has to deliver now or fail; an error that is not retryable then ends `run`
        /// at once.
        public var maximumDeliveryAttempts: Int?
        /// How long deliveries of some events fail, while the tracker could deliver others, before those events are parked in
        /// the quarantine; `nil` for never.
        ///
        /// The events behind them wait for at most this time. Nothing is parked while the tracker delivers nothing, or
        /// if the quarantine discards its events.
        ///
        /// Default: 10 s.
        public var parkAfter: Duration?
        /// How long a shutdown drains the queues before it cancels deliveries.
        ///
        /// Default: 30 s.
        public var shutdownTimeout: Duration
        /// How long a shutdown waits for a tracker to return from a cancelled delivery and to stop; then it leaves the tracker
        /// behind and logs that.
        ///
        /// The journal then has the same time to close, and after it the quarantine to write the events it was handed.
        ///
        /// Default: 5 s.
        public var cancellationGrace: Duration
        /// How long the journal's disk may take over one operation before its commits count as overdue.
        ///
        /// While they are overdue, the pipeline is not ready and rejects new batches at once. Default: 5 s.
        /// The minimum is 1 ms.
        public var commitOverdueAfter: Duration {
            didSet { commitOverdueAfter = max(.milliseconds(1), commitOverdueAfter) }
        }
        /// Where a tracker that is new to the journal begins; others continue at their cursors.
        ///
        /// Default: `end`. Ignored without a journal.
        public var journalStart: JournalStart

        /// When a batch is acknowledged.
        ///
        /// Default: `stored`. With `delivered` or `deliveredIfAvailable`, deliveries do not linger, and no queue should have the
        /// policy `dropNewest` or `dropOldest`, because events that a queue drops count as settled.
        public var acknowledgement: AcknowledgementPolicy

        /// When events that the pipeline has not accepted before may have happened, relative to their arrival; others are rejected with
        /// `time-out-of-range`, and no correction of a client's clock has another result.
        ///
        /// It applies to `track` and to events that arrive over HTTP, but not to replays, to journals and to what a loader reads.
        /// Default: `TimeWindow.standard`.
        public var eventTimes = TimeWindow.standard

        /// Uses the defaults for all arguments that are not passed.
        public init(
            queue: Queue = Queue(),
            queueByTracker: [String: Queue] = [:],
            delivery: DeliveryLimits = DeliveryLimits(),
            deliveryByTracker: [String: DeliveryLimits] = [:],
            retry: RetryPolicy = RetryPolicy(),
            maximumStartAttempts: Int? = nil,
            maximumDeliveryAttempts: Int? = nil,
            parkAfter: Duration? = .seconds(10),
            shutdownTimeout: Duration = .seconds(30),
            cancellationGrace: Duration = .seconds(5),
            commitOverdueAfter: Duration = .seconds(5),
            journalStart: JournalStart = .end,
            acknowledgement: AcknowledgementPolicy = .stored
        ) {
            self.queue = queue
            self.queueByTracker = queueByTracker
            self.delivery = delivery
            self.deliveryByTracker = deliveryByTracker
            self.retry = retry
            self.maximumStartAttempts = maximumStartAttempts
            self.maximumDeliveryAttempts = maximumDeliveryAttempts
            self.parkAfter = parkAfter
            self.shutdownTimeout = shutdownTimeout
            self.cancellationGrace = cancellationGrace
            self.commitOverdueAfter = max(.milliseconds(1), commitOverdueAfter)
            self.journalStart = journalStart
            self.acknowledgement = acknowledgement
        }

        /// The defaults of a pipeline with a journal: a full queue spills.
        public static let journaled = Configuration(queue: Queue(fullPolicy: .spill))

        /// The longest time from the request to shut down to the end of `run`, for the queues, the trackers, the journal and
        /// the quarantine.
        package var longestShutdown: Duration { shutdownTimeout + cancellationGrace * 3 }

        /// The limits of one tracker's queue.
        func queue(of tracker: String) -> Queue {
            queueByTracker[tracker.lowercased()] ?? queue
        }

        /// The configuration with the limits that trackers have of their own, for those that are not in `deliveryByTracker`.
        func addingLimits(of trackers: [any Tracker]) -> Configuration {
            var configuration = self
            for tracker in trackers {
                let name = tracker.name.lowercased()
                guard deliveryByTracker[name] == nil, let limits = tracker.deliveryLimits else { continue }
                configuration.deliveryByTracker[name] = limits
            }
            return configuration
        }

        /// The limits of one tracker's deliveries.
        package func delivery(of tracker: String) -> DeliveryLimits {
            var limits = deliveryByTracker[tracker.lowercased()] ?? delivery
            // Somebody waits for each event.
            if acknowledgement != .stored { limits.linger = .zero }
            return limits
        }
    }

    /// The limits of a queue.
    ///
    /// Events count until their delivery is settled, so the limits bound all the memory that a tracker's events take. A batch that
    /// is larger than the limits is accepted when the queue is empty.
    public struct Queue: Sendable, Hashable {
        /// The maximum number of events.
        ///
        /// Default: 100,000.
        public var capacityInEvents: Int
        /// The maximum number of bytes of canonical JSON.
        ///
        /// Default: 64 MiB.
        public var capacityInBytes: Int
        /// What to do when the queue is full.
        ///
        /// Default: `wait`.
        public var fullPolicy: FullPolicy

        /// Uses the defaults for all arguments that are not passed.
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
}
