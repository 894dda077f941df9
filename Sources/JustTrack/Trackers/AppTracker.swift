import EventValidation
import Logging
import TrackerKit

/// Adapts one of the app's trackers to the pipeline.
final class AppTracker: Tracker {
    let name: String
    private let thread: SessionOnDemand<TrackerThread>

    /// Calls `tracker`; `answers` is `nil` if there is no spool.
    init(name: String, tracker: LoadedTracker, undelivered: UndeliveredEvents, answers: AnswerNote?, logger: Logger) {
        self.name = name
        thread = SessionOnDemand { () throws(TrackerError) in
            try TrackerThread(tracker, undelivered: undelivered, answers: answers, logger: logger)
        }
    }

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        _ = try thread.get()
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let thread: TrackerThread
        do throws(TrackerError) { thread = try self.thread.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await thread.deliver(delivery, interrupt: interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }
}
