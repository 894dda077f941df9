import EventPipeline
import EventValidation
import NIOCore
import Synchronization

/// Carries the pipeline's word on a batch back to its connection, at once or later, from whatever thread.
///
/// A connection waits for one batch at a time, so it has one of these and uses it again and again, until it leaves one behind.
final class Submission: Sendable {
    typealias Outcome = Result<Void, SubmissionError>

    private enum State {
        /// Nothing is with the pipeline. Can transition to: submitting, when a batch is handed over.
        case idle
        /// `submit` has not returned. Can transition to: decided, when the pipeline calls back within it; waiting, when
        /// it returned without.
        case submitting
        /// The pipeline has called back, and the connection has not looked yet. Can transition to: idle, when it looks.
        case decided(Outcome)
        /// The connection waits. Can transition to: idle, when the pipeline calls back; left, when the connection does not
        /// wait any more.
        case waiting(NIOLoopBound<ConnectionHandler>)
        /// The connection is gone, or has answered otherwise. Can transition to: idle, when the pipeline calls back.
        case left(Remainder)
    }

    /// What is to be done about a batch when it is decided about after its connection has stopped waiting.
    struct Remainder: Sendable {
        /// What was rejected of the same body, to be kept where the rest is taken.
        let verdict: Verdict?
        /// What the batch and these hold of the memory for bodies.
        let reservedBytes: Int
        let shared: IngestContext

        fileprivate func settle(_ outcome: Outcome) {
            shared.budget.release(reservedBytes)
            if case .success = outcome { verdict?.keepRejections(in: shared.pipeline) }
        }
    }

    let eventLoop: any EventLoop
    private let state = Mutex(State.idle)

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Hands a batch over.
    ///
    /// - Returns: The outcome if it is there at once. If not, `handler.resume` is called with it later, on the event
    ///   loop; the ticket, if there is one, can take the batch back until then.
    func submit(
        _ batch: EventBatch,
        to pipeline: Pipeline,
        for handler: ConnectionHandler
    ) -> (outcome: Outcome?, ticket: Pipeline.Ticket?) {
        state.withLock { $0 = .submitting }
        let ticket = pipeline.submit(batch) { [self] in complete($0) }
        let outcome = state.withLock { state -> Outcome? in
            if case .decided(let outcome) = state {
                state = .idle
                return outcome
            }
            state = .waiting(NIOLoopBound(handler, eventLoop: eventLoop))
            return nil
        }
        return (outcome, ticket)
    }

    /// Stops waiting: what is to be done later is left to `remainder`, which this submission is for from now on.
    ///
    /// - Returns: False where the pipeline has called back, and `handler.resume` is about to be called.
    func leave(_ remainder: Remainder) -> Bool {
        state.withLock { state in
            guard case .waiting = state else { return false }
            state = .left(remainder)
            return true
        }
    }

    private func complete(_ outcome: Outcome) {
        let before = state.withLock { state -> State in
            let before = state
            if case .submitting = before { state = .decided(outcome) } else { state = .idle }
            return before
        }
        switch before {
        case .waiting(let handler): eventLoop.execute { handler.value.resume(with: outcome) }
        case .left(let remainder): remainder.settle(outcome)
        // A second word on the same batch has nobody to go to.
        case .submitting, .idle, .decided: break
        }
    }
}
