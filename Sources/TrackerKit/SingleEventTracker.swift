/// A tracker that delivers one event at a time: the shortest way to write one.
///
/// An error from `track` means an outage: the event and those after it are retried with exponential backoff. To refuse an event
/// that the destination will never accept, throw an `EventRefusal`; the event then goes to the quarantine.
public protocol SingleEventTracker: Tracker {
    /// Delivers one event.
    ///
    /// - Throws: `EventRefusal` if the destination will never accept this event; any other error if it may accept it later.
    func track(_ event: TrackedEvent) async throws
}

/// The error that a `SingleEventTracker` throws for an event that its destination will never accept.
public struct EventRefusal: Error, Sendable, Hashable {
    /// The destination's reason.
    ///
    /// It is stored in the quarantine with the event and never logged, so it may show values of the event.
    public let reason: String

    /// Refuses an event permanently.
    public init(_ reason: String) {
        self.reason = reason
    }
}

extension SingleEventTracker {
    /// Calls `track` for each event, in order.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        var refusals: [DeliveryOutcome.Refusal] = []
        for (position, event) in delivery.enumerated() {
            do {
                try Task.checkCancellation()
                try await track(event)
            } catch let refusal as EventRefusal {
                refusals.append(.init(position: position, reason: refusal.reason))
            } catch {
                let rest = Array(position..<delivery.count)
                return DeliveryOutcome(refusals: refusals, retry: .init(positions: rest, reason: reason(error)))
            }
        }
        return .refused(refusals)
    }

    private func reason(_ error: any Error) -> TrackerError {
        switch error {
        case let error as TrackerError: error
        case is CancellationError:
            .cancelled
        default:
            // Not the error itself, which may show the event's values. Foundation's errors have a domain of their own, in which the
            // code says what happened; that of any other error is the type's name.
            TrackerError(
                code: .failed,
                message: "The tracker threw an error of the type \(type(of: error))"
                    + (error._domain.hasSuffix(".\(type(of: error))") ? "." : ": \(error._domain) \(error._code)."),
                isRetryable: true,
                underlying: error
            )
        }
    }
}
