import EventPipeline
import Foundation
import Synchronization

/// What becomes of events on their way into the spool, for the thread that waits for it.
final class CommitReceipt: Sendable {
    private let condition = NSCondition()
    private let outcome: Mutex<Result<Void, SubmissionError>?>

    private init(_ outcome: Result<Void, SubmissionError>?) {
        self.outcome = Mutex(outcome)
    }

    /// Submits events.
    convenience init(of batch: EventBatch, in pipeline: Pipeline) {
        self.init(nil)
        _ = pipeline.submit(batch) { self.settle($0) }
    }

    /// The receipt of what is not taken, because there is nobody any more who would.
    static func closed() -> CommitReceipt { CommitReceipt(.failure(.closed)) }

    private func settle(_ result: Result<Void, SubmissionError>) {
        condition.lock()
        outcome.withLock { $0 = result }
        condition.signal()
        condition.unlock()
    }

    /// Waits until they are written; false where that takes longer than so many seconds, and is left to itself.
    ///
    /// - Throws: Where they were not taken.
    func wait(atMost seconds: TimeInterval) throws(SubmissionError) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        while outcome.withLock({ $0 == nil }), condition.wait(until: deadline) {}
        condition.unlock()
        guard let outcome = outcome.withLock({ $0 }) else { return false }
        try outcome.get()
        return true
    }
}
