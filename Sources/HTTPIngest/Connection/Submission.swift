import EventPipeline
import NIOCore
import Synchronization

/// Carries the pipeline's word on a batch back to its connection, at once or later, from whatever thread.
///
/// A connection has one batch at a time with the pipeline, so it has one of these and uses it again and again.
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
        /// The connection waits. Can transition to: idle, when the pipeline calls back.
        case waiting(NIOLoopBound<ConnectionHandler>)
    }

    private let eventLoop: any EventLoop
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

    private func complete(_ outcome: Outcome) {
        let waiting = state.withLock { state -> NIOLoopBound<ConnectionHandler>? in
            switch state {
            case .submitting:
                state = .decided(outcome)
                return nil
            case .waiting(let handler):
                state = .idle
                return handler
            case .idle, .decided:
                // A second word on the same batch has nobody to go to.
                return nil
            }
        }
        guard let waiting else { return }
        eventLoop.execute { waiting.value.resume(with: outcome) }
    }
}
