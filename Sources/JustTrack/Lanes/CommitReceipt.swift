import EventPipeline
import EventValidation
import Foundation
import Synchronization

/// The result of a submission to the spool, for the thread that waits for it.
final class CommitReceipt: Sendable {
    /// How long `trackEvent` waits at most, in seconds, so that a disk that hangs does not block the app.
    private static let patience = 0.25

    private let pace: CommitPace
    private let condition = NSCondition()
    private let outcome = Mutex<Result<Pipeline.Acknowledgement, TrackError>?>(nil)

    /// Submits events.
    ///
    /// - Throws: If too many submissions are in progress.
    init(of batch: EventBatch, in pipeline: Pipeline, pace: CommitPace) throws(RecordError) {
        guard pace.begin() else { throw .spoolStandsStill }
        self.pace = pace
        _ = pipeline.submit(batch) { self.settle($0) }
    }

    private func settle(_ result: Result<Pipeline.Acknowledgement, TrackError>) {
        pace.settle()
        condition.lock()
        outcome.withLock { $0 = result }
        condition.signal()
        condition.unlock()
    }

    /// Waits until the events are written, or the spool is known to hang; returns false if they are not written yet.
    ///
    /// - Throws: If the events were refused.
    func waitBriefly() throws(TrackError) -> Bool {
        try wait(atMost: pace.isStalled ? 0 : Self.patience)
    }

    /// Waits until the events are written; returns false if that takes longer than `seconds`.
    ///
    /// - Throws: If the events were refused.
    func wait(atMost seconds: TimeInterval) throws(TrackError) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        while outcome.withLock({ $0 == nil }), condition.wait(until: deadline) {}
        condition.unlock()
        guard let outcome = outcome.withLock({ $0 }) else {
            pace.stall()
            return false
        }
        _ = try outcome.get()
        return true
    }
}
