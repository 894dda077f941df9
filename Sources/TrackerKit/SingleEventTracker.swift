/// A tracker that takes one event at a time: the ten-line way to write one.
///
/// An error is an outage: this event and those after it are tried again, with a growing pause. An event that the destination
/// will never take is refused by throwing an `EventRefusal`, and goes to the quarantine.
public protocol SingleEventTracker: Tracker {
    /// Delivers one event.
    ///
    /// - Throws: `EventRefusal` where the destination will never take this event; any other error where it may later.
    func track(_ event: TrackedEvent) async throws
}

/// Thrown by a `SingleEventTracker` for an event that its destination will never take, however often it is tried.
public struct EventRefusal: Error, Sendable, Hashable {
    /// Why, in the destination's words.
    ///
    /// It is kept in the quarantine beside the event, and never logged, so it may hold the event's values.
    public let reason: String

    /// Refuses an event permanently.
    public init(_ reason: String) {
        self.reason = reason
    }
}

extension SingleEventTracker {
    /// Hands the events on one by one.
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
            TrackerError(code: .cancelled, message: "The delivery was cancelled.", isRetryable: true)
        default:
            // Not the error itself, which may show the event's values.
            TrackerError(
                code: .failed,
                message: "The tracker threw an error of the type \(type(of: error)).",
                isRetryable: true,
                underlying: error
            )
        }
    }
}
