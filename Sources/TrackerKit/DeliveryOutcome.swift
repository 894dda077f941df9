/// The result of a delivery: each event is delivered, refused permanently, or to be retried.
public struct DeliveryOutcome: Sendable {
    /// An event that the destination will never accept, and why; it goes to the quarantine (the dead-letter queue).
    public struct Refusal: Sendable, Hashable {
        /// The event's position in the delivery.
        public let position: Int
        /// The destination's reason, for the operator.
        ///
        /// It is stored in the quarantine and never logged, so it may show values of the event.
        public let reason: String

        /// Refuses an event permanently.
        public init(position: Int, reason: String) {
            self.position = position
            self.reason = reason
        }
    }

    /// Events that the destination does not accept now, although it accepted others in the same call: the fault is theirs or that of
    /// their table or topic, and not the destination's.
    public struct Stuck: Sendable {
        /// Their positions in the delivery, ascending; their events have one name.
        public let positions: [Int]
        /// Why they are not accepted.
        public let reason: TrackerError
        /// Whether no event of the name is accepted; otherwise each of these was tried by itself.
        public let isWholeName: Bool

        /// Makes a group of stuck events.
        public init(positions: [Int], reason: TrackerError, isWholeName: Bool) {
            self.positions = positions
            self.reason = reason
            self.isWholeName = isWholeName
        }
    }

    /// The events to retry later, and why.
    public struct Retry: Sendable {
        /// The positions to retry, ascending; `nil` for all events that are not refused.
        public let positions: [Int]?
        /// The reason, which is logged.
        public let reason: TrackerError
        /// Those of the events to retry that are known to be stuck; empty if the tracker does not know.
        ///
        /// The pipeline parks them in the quarantine (the dead-letter queue) if retries do not help. Otherwise it has to find them by
        /// sending the events in parts.
        public let stuck: [Stuck]

        /// Asks for a retry.
        public init(positions: [Int]? = nil, reason: TrackerError, stuck: [Stuck] = []) {
            self.positions = positions
            self.reason = reason
            self.stuck = stuck
        }
    }

    /// Events that the destination accepts only after an operator has changed it, which the destination itself has said.
    ///
    /// They are parked in the quarantine at once: no retry helps, and no other event of their name is suspected.
    package struct Parked: Sendable {
        /// Their positions in the delivery, ascending.
        package let positions: [Int]
        /// What the operator has to change.
        package let reason: TrackerError

        package init(positions: [Int], reason: TrackerError) {
            self.positions = positions
            self.reason = reason
        }
    }

    /// The events that are refused permanently.
    public let refusals: [Refusal]
    /// The events to park.
    package let parked: [Parked]
    /// The events to retry; `nil` if there are none.
    public let retry: Retry?

    /// How many of the delivered events the destination had already, as far as the tracker knows; it is only reported.
    public let alreadyStored: Int

    /// Makes an outcome; events that are neither refused nor to be retried were delivered.
    public init(refusals: [Refusal] = [], retry: Retry? = nil, alreadyStored: Int = 0) {
        self.init(refusals: refusals, parked: [], retry: retry, alreadyStored: alreadyStored)
    }

    /// Makes an outcome; events that are neither refused, parked nor to be retried were delivered.
    package init(refusals: [Refusal] = [], parked: [Parked], retry: Retry? = nil, alreadyStored: Int = 0) {
        self.refusals = refusals
        self.parked = parked
        self.retry = retry
        self.alreadyStored = alreadyStored
    }

    /// All events were delivered.
    public static let delivered = DeliveryOutcome()

    /// No event was delivered: the destination is unavailable or asked us to retry.
    public static func retry(_ reason: TrackerError) -> DeliveryOutcome {
        DeliveryOutcome(retry: Retry(reason: reason))
    }

    /// All other events were delivered.
    public static func refused(_ refusals: [Refusal]) -> DeliveryOutcome {
        DeliveryOutcome(refusals: refusals)
    }
}

extension DeliveryOutcome {
    /// The same outcome with the refused events as a retry.
    package func retryingRefused(for reason: TrackerError) -> DeliveryOutcome {
        DeliveryOutcome(parked: parked, retry: retry(besides: refusals.map(\.position), for: reason))
    }

    /// The same outcome with the events to park as a retry.
    package func retryingParked(for reason: TrackerError) -> DeliveryOutcome {
        DeliveryOutcome(refusals: refusals, parked: [], retry: retry(besides: parked.flatMap(\.positions), for: reason))
    }

    private func retry(besides positions: [Int], for reason: TrackerError) -> Retry {
        guard let retry else { return Retry(positions: positions.sorted(), reason: reason) }
        return Retry(
            positions: retry.positions.map { ($0 + positions).sorted() },
            reason: reason,
            stuck: retry.stuck
        )
    }
}
