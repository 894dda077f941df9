import EventPipeline
import EventValidation
import Foundation
import Synchronization

/// What becomes of events on their way into the spool, for the thread that waits for it.
final class CommitReceipt: Sendable {
    /// How long somebody waits who tracks an event, in seconds: a disk that stands still must not make an app stand still.
    private static let patience = 0.25

    private let pace: CommitPace
    private let condition = NSCondition()
    private let outcome = Mutex<Result<Void, SubmissionError>?>(nil)

    /// Submits events.
    ///
    /// - Throws: Where too many others are on their way.
    init(of batch: EventBatch, in pipeline: Pipeline, pace: CommitPace) throws(RecordError) {
        guard pace.begin() else { throw .spoolStandsStill }
        self.pace = pace
        _ = pipeline.submit(batch) { self.settle($0) }
    }

    private func settle(_ result: Result<Void, SubmissionError>) {
        pace.settle()
        condition.lock()
        outcome.withLock { $0 = result }
        condition.signal()
        condition.unlock()
    }

    /// Waits until they are written, or it is known that the spool stands still; false where they are not written yet.
    ///
    /// - Throws: Where they were not taken.
    func waitBriefly() throws(SubmissionError) -> Bool {
        try wait(atMost: pace.isStalled ? 0 : Self.patience)
    }

    /// Waits until they are written; false where that takes longer than so many seconds, and is left to itself.
    ///
    /// - Throws: Where they were not taken.
    func wait(atMost seconds: TimeInterval) throws(SubmissionError) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        while outcome.withLock({ $0 == nil }), condition.wait(until: deadline) {}
        condition.unlock()
        guard let outcome = outcome.withLock({ $0 }) else {
            pace.stall()
            return false
        }
        try outcome.get()
        return true
    }
}
