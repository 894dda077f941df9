import EventPipeline

#if canImport(ObjectiveC)
import Foundation
#endif

/// The thread on which one of the app's trackers is called, for one event after the other.
actor TrackerThread {
    private let thread: BlockingThread
    private let tracker: LoadedTracker
    private let undelivered: UndeliveredEvents
    private var reader = RecordReader()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` where there is no thread to be had.
    init(_ tracker: LoadedTracker, undelivered: UndeliveredEvents) throws(TrackerError) {
        thread = try BlockingThread()
        self.tracker = tracker
        self.undelivered = undelivered
    }

    /// Passes the events on; those that the tracker does not take are kept aside, and hold up none behind them.
    func deliver(_ delivery: Delivery, interrupt: Interrupt) -> DeliveryOutcome {
        for (position, event) in delivery.enumerated() {
            if interrupt.isRaised {
                let error = TrackerError(code: .cancelled, message: "The delivery was cancelled.", isRetryable: true)
                return DeliveryOutcome(retry: .init(positions: Array(position..<delivery.count), reason: error))
            }
            if !isTaken(event) { undelivered.keep(event) }
        }
        return .delivered
    }

    private func isTaken(_ event: TrackedEvent) -> Bool {
        #if canImport(ObjectiveC)
        // The thread has no pool of its own, and what a tracker leaves to one would stay as long as the thread.
        return autoreleasepool { call(with: event) }
        #else
        return call(with: event)
        #endif
    }

    private func call(with event: TrackedEvent) -> Bool {
        // A line that is no record is none of ours: no tracker can take it, and none is to get it again.
        guard let (name, payload) = reader.record(in: event) else { return true }
        return tracker.trackEvent(name, payload: payload)
    }
}
