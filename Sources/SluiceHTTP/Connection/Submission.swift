import EventPipeline
import EventValidation
import NIOCore
import Synchronization

/// Returns the pipeline's decision about a batch to its connection, at once or later, from any thread.
///
/// A connection waits for one batch at a time, so it reuses one submission until it leaves one behind.
final class Submission: Sendable {
    typealias Outcome = Result<Pipeline.Acknowledgement, TrackError>

    private enum State {
        /// The pipeline has no batch. Can transition to: submitting, when a batch is handed over.
        case idle
        /// `submit` has not returned. Can transition to: decided, when the pipeline calls back within it; waiting, when
        /// it returned without.
        case submitting
        /// The pipeline has called back within `submit`. Can transition to: idle, when `submit` returns.
        case decided(Outcome)
        /// The connection waits. Can transition to: idle, when the pipeline calls back; left, when the connection stops
        /// waiting.
        case waiting(NIOLoopBound<ConnectionHandler>)
        /// The connection is closed, or has already answered. Can transition to: idle, when the pipeline calls back.
        case left(Remainder)
    }

    /// What remains to be done when a batch is decided after its connection stopped waiting.
    struct Remainder: Sendable {
        /// The rejected events of the same body, which are stored if the rest is accepted.
        let verdict: Verdict?
        /// The limits of the key, against which this number of events and bytes was counted.
        let limiter: KeyLimiter?
        let countedEvents: Int
        let countedBytes: Int
        /// The memory that the batch and the rejected events have reserved.
        let reservedBytes: Int
        let shared: IngestContext

        fileprivate func settle(_ outcome: Outcome) {
            shared.budget.release(reservedBytes)
            switch outcome {
            case .success: verdict?.keepRejections(in: shared.pipeline)
            case .failure(let error): limiter?.giveBack(countedEvents, countedBytes, in: shared, after: error)
            }
        }
    }

    let eventLoop: any EventLoop
    private let state = Mutex(State.idle)

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Submits a batch.
    ///
    /// - Returns: The outcome if it is known at once. If not, `handler.resume` is called with it later, on the event
    ///   loop; until then the ticket, if there is one, can withdraw the batch.
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

    /// Stops waiting and leaves the rest to `remainder`; the submission cannot be used again.
    ///
    /// - Returns: False if the pipeline has called back and `handler.resume` is about to be called.
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
        // A batch is decided only once.
        case .submitting, .idle, .decided: break
        }
    }
}
