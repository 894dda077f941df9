/// What became of a delivery: every event in it is delivered, or refused permanently, or to be tried again.
public struct DeliveryOutcome: Sendable {
    /// An event that the destination will never take, and why; it goes to the quarantine.
    public struct Refusal: Sendable, Hashable {
        /// The event's position in the delivery.
        public let position: Int
        /// Why, in the destination's words, for the operator.
        ///
        /// It is kept in the quarantine, and never logged.
        public let reason: String

        /// Names an event that the destination will never take.
        public init(position: Int, reason: String) {
            self.position = position
            self.reason = reason
        }
    }

    /// What is to be tried again later, and why.
    public struct Retry: Sendable {
        /// The positions that are neither delivered nor refused, ascending; `nil` for all that are not refused.
        public let positions: [Int]?
        /// What went wrong; logged.
        public let reason: TrackerError

        /// Asks for another try.
        public init(positions: [Int]? = nil, reason: TrackerError) {
            self.positions = positions
            self.reason = reason
        }
    }

    /// The events that are refused permanently.
    public let refusals: [Refusal]
    /// What is to be tried again; `nil` where nothing is.
    public let retry: Retry?

    /// Says what became of a delivery; whatever is neither refused nor to be tried again was delivered.
    public init(refusals: [Refusal] = [], retry: Retry? = nil) {
        self.refusals = refusals
        self.retry = retry
    }

    /// All of it was delivered.
    public static let delivered = DeliveryOutcome()

    /// None of it was delivered; the destination is not to be had, or said to come again.
    public static func retry(_ reason: TrackerError) -> DeliveryOutcome {
        DeliveryOutcome(retry: Retry(reason: reason))
    }

    /// All but these were delivered.
    public static func refused(_ refusals: [Refusal]) -> DeliveryOutcome {
        DeliveryOutcome(refusals: refusals)
    }
}

extension DeliveryOutcome {
    /// The same, with all that was refused to be tried again.
    package func retryingRefused(for reason: TrackerError) -> DeliveryOutcome {
        let refused = refusals.map(\.position)
        guard let retry else { return DeliveryOutcome(retry: Retry(positions: refused, reason: reason)) }
        return DeliveryOutcome(retry: Retry(positions: retry.positions.map { $0 + refused }, reason: reason))
    }
}
