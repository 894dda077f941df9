public import Foundation

/// When events are passed on to trackers.
public enum TrackingDeliveryType: Sendable {
    /// Together, so many seconds after the first of them, or earlier where 10,000, or 4 MiB,
    /// have gathered for a tracker.
    case batch(dispatchInterval: TimeInterval)
    /// Each as soon as its tracker has got those before it.
    case immediate
}

extension TrackingDeliveryType {
    /// A year is as good as for ever, and no number that an app gives makes a duration overflow.
    private static let longestInterval: TimeInterval = 365 * 86_400

    /// How long the first event waits for company.
    package var linger: Duration {
        switch self {
        case .immediate: .zero
        // Not a number is no wait at all.
        case .batch(let interval): interval > 0 ? .seconds(min(interval, Self.longestInterval)) : .zero
        }
    }
}
