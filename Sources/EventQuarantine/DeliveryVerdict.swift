/// Why an event that follows the plan is in the quarantine; the code of its one error.
package enum DeliveryVerdict: String, Sendable, CaseIterable {
    /// The tracker refused the event: sending it again would not help.
    case refused
    /// The tracker kept asking for the event again while it took others: something at the destination is broken, and the
    /// event may well be delivered once that is repaired.
    case parked

    /// What the error says was expected.
    var expected: String {
        switch self {
        case .refused: "an event the tracker takes"
        case .parked: "a destination that takes the event"
        }
    }
}
