/// Why a valid event is in the quarantine; the code of its only error.
package enum DeliveryVerdict: String, Sendable, CaseIterable {
    /// The tracker refused the event permanently; a retry would not help.
    case refused
    /// The tracker kept returning the event as a retry while it delivered others: something in the destination is broken, and
    /// the event can be replayed once that is repaired.
    case parked

    /// The error's `expected` text.
    var expected: String {
        switch self {
        case .refused: "an event the tracker takes"
        case .parked: "a destination that takes the event"
        }
    }
}
