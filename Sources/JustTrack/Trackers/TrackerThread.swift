import EventJournal
import EventValidation
import Logging
import TrackerKit

#if canImport(ObjectiveC)
import Foundation
#endif

/// The thread on which one of the app's trackers is called, for one event after the other.
actor TrackerThread {
    private let thread: BlockingThread
    private let tracker: LoadedTracker
    private let undelivered: UndeliveredEvents
    private let logger: Logger
    private var answers: AnswerNote?
    private var reader = RecordReader()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` where there is no thread to be had.
    init(_ tracker: LoadedTracker, undelivered: UndeliveredEvents, answers: AnswerNote?, logger: Logger)
        throws(TrackerError)
    {
        thread = try BlockingThread()
        self.tracker = tracker
        self.undelivered = undelivered
        self.answers = answers
        self.logger = logger
    }

    /// Passes the events on; those that the tracker does not take are kept aside, and hold up none behind them.
    func deliver(_ delivery: Delivery, interrupt: Interrupt) -> DeliveryOutcome {
        var position = 0
        for slice in delivery.slices {
            for place in 0..<slice.count {
                if interrupt.isRaised {
                    let error = TrackerError(
                        code: .cancelled,
                        message: "The delivery was cancelled.",
                        isRetryable: true
                    )
                    return DeliveryOutcome(retry: .init(positions: Array(position..<delivery.count), reason: error))
                }
                passOn(slice[place..<place + 1])
                position += 1
            }
        }
        return .delivered
    }

    /// Passes one event on; what became of it is known for good before the next.
    private func passOn(_ slice: EventSlice) {
        let event = TrackedEvent(batch: slice.batch, index: slice.batchIndex(at: 0))
        if !isTaken(event) { undelivered.keep(event) }
        do throws(FileError) {
            try answers?.move(to: slice.sequences.upperBound)
        } catch {
            // The end of the delivery is still noted by the pipeline.
            answers = nil
            logger.error("Answers cannot be noted; should the process end, many events may come again: \(error)")
        }
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
