/// A tracker that takes one event at a time: the ten-line way to write one.
///
/// An error that is a `TrackerError` with `isRetryable` is an outage: this event and those after it come again.
/// Any other error refuses the one event for good.
public protocol SingleEventTracker: Tracker {
    /// Delivers one event.
    func track(_ event: TrackedEvent) async throws
}

extension SingleEventTracker {
    /// Hands the events on one by one.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        var refusals: [DeliveryOutcome.Refusal] = []
        for (position, event) in delivery.enumerated() {
            do {
                try Task.checkCancellation()
                try await track(event)
            } catch let error as TrackerError where error.isRetryable {
                return rest(of: delivery, from: position, refusals: refusals, reason: error)
            } catch is CancellationError {
                let error = TrackerError(code: .cancelled, message: "The delivery was cancelled.", isRetryable: true)
                return rest(of: delivery, from: position, refusals: refusals, reason: error)
            } catch {
                refusals.append(.init(position: position, reason: String(describing: error)))
            }
        }
        return .refused(refusals)
    }

    private func rest(
        of delivery: Delivery,
        from position: Int,
        refusals: [DeliveryOutcome.Refusal],
        reason: TrackerError
    ) -> DeliveryOutcome {
        DeliveryOutcome(refusals: refusals, retry: .init(positions: Array(position..<delivery.count), reason: reason))
    }
}
