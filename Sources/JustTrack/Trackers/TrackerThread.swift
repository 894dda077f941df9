import EventJournal
import EventValidation
import Logging
import TrackerKit

#if canImport(ObjectiveC)
import Foundation
#endif

/// The thread on which one of the app's trackers is called for one event at a time.
actor TrackerThread {
    private let thread: BlockingThread
    private let tracker: LoadedTracker
    private let undelivered: UndeliveredEvents
    private let logger: Logger
    private var answers: AnswerNote?
    private var reader = RecordReader()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` if the system has no thread.
    init(_ tracker: LoadedTracker, undelivered: UndeliveredEvents, answers: AnswerNote?, logger: Logger)
        throws(TrackerError)
    {
        thread = try BlockingThread()
        self.tracker = tracker
        self.undelivered = undelivered
        self.answers = answers
        self.logger = logger
    }

    /// Delivers the events; stores those that the tracker refuses, so that later events do not wait for them.
    func deliver(_ delivery: Delivery, interrupt: Interrupt) -> DeliveryOutcome {
        var position = 0
        for slice in delivery.slices {
            for place in 0..<slice.count {
                if interrupt.isRaised {
                    let rest = Array(position..<delivery.count)
                    return DeliveryOutcome(retry: .init(positions: rest, reason: .cancelled))
                }
                passOn(slice[place..<place + 1])
                position += 1
            }
        }
        return .delivered
    }

    /// Delivers one event; its result is stored before the next event.
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
        // The thread has no autorelease pool, and objects that a tracker autoreleases would live as long as the thread.
        return autoreleasepool { call(with: event) }
        #else
        return call(with: event)
        #endif
    }

    private func call(with event: TrackedEvent) -> Bool {
        // No tracker can deliver a line that is not a record, so it is not kept.
        guard let (name, payload) = reader.record(in: event) else { return true }
        return tracker.trackEvent(name, payload: payload)
    }
}
