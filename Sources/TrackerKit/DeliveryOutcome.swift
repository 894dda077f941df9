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

    /// The events to retry later, and why.
    public struct Retry: Sendable {
        /// The positions to retry, ascending; `nil` for all events that are not refused.
        public let positions: [Int]?
        /// The reason, which is logged.
        public let reason: TrackerError

        /// Asks for a retry.
        public init(positions: [Int]? = nil, reason: TrackerError) {
            self.positions = positions
            self.reason = reason
        }
    }

    /// The events that are refused permanently.
    public let refusals: [Refusal]
    /// The events to retry; `nil` if there are none.
    public let retry: Retry?

    /// Makes an outcome; events that are neither refused nor to be retried were delivered.
    public init(refusals: [Refusal] = [], retry: Retry? = nil) {
        self.refusals = refusals
        self.retry = retry
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
        let refused = refusals.map(\.position)
        guard let retry else { return DeliveryOutcome(retry: Retry(positions: refused, reason: reason)) }
        return DeliveryOutcome(retry: Retry(positions: retry.positions.map { $0 + refused }, reason: reason))
    }
}
