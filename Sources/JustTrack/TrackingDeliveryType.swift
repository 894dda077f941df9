public import Foundation

/// When events are passed to trackers.
public enum TrackingDeliveryType: Sendable {
    /// In batches, `dispatchInterval` seconds after the first event, or earlier if 10,000 events or 4 MiB wait for a
    /// tracker.
    case batch(dispatchInterval: TimeInterval)
    /// Immediately, as soon as the tracker has got the events before it.
    case immediate
}

extension TrackingDeliveryType {
    /// A year, so that no number of seconds overflows a duration.
    private static let longestInterval: TimeInterval = 365 * 86_400

    /// How long the first event of a batch waits for others.
    package var linger: Duration {
        switch self {
        case .immediate: .zero
        // NaN means no wait.
        case .batch(let interval): interval > 0 ? .seconds(min(interval, Self.longestInterval)) : .zero
        }
    }
}
