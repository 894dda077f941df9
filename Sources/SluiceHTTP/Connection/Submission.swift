package import EventPipeline
import EventValidation
import NIOCore
import Synchronization

/// Returns the pipeline's decision about a batch to its connection, at once or later, from any thread.
///
/// A connection waits for one batch at a time, so it reuses one submission until it leaves one behind.
package final class Submission: Sendable {
    /// The pipeline's decision about a batch.
    package typealias Outcome = Result<Pipeline.Acknowledgement, TrackError>

    private enum State: ~Copyable {
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

        var isSubmitting: Bool {
            switch self {
            case .submitting: true
            default: false
            }
        }

        var isWaiting: Bool {
            switch self {
            case .waiting: true
            default: false
            }
        }
    }

    /// What remains to be done when a batch is decided after its connection stopped waiting.
    package struct Remainder: ~Copyable, Sendable {
        /// The rejected events of the same body, which are stored if the rest is accepted.
        let verdict: Verdict?
        /// The limits of the key, against which this number of events and bytes was counted.
        let limiter: KeyLimiter?
        let countedEvents: Int
        let countedBytes: Int
        /// The memory of the batch and the rejected events.
        let memory: Reservation
        let server: IngestContext

        /// Stores the rejected events if the batch was accepted, and otherwise takes back what was counted.
        package func settle(_ outcome: Outcome) {
            switch outcome {
            case .success: verdict?.keepRejections(in: server.pipeline)
            case .failure(let error): limiter?.giveBack(countedEvents, countedBytes, in: server, after: error)
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
            switch consume state {
            case .decided(let outcome):
                state = .idle
                return outcome
            default:
                state = .waiting(NIOLoopBound(handler, eventLoop: eventLoop))
                return nil
            }
        }
        return (outcome, ticket)
    }

    /// Stops waiting and leaves the rest to the remainder; the submission cannot be used again.
    ///
    /// - Returns: False if the pipeline has called back and `handler.resume` is about to be called; then nothing changes.
    func leave(_ remainder: () -> Remainder) -> Bool {
        state.withLock { state in
            guard state.isWaiting else { return false }
            state = .left(remainder())
            return true
        }
    }

    private func complete(_ outcome: Outcome) {
        let before = state.withLock { state -> State in
            var before = State.idle
            if state.isSubmitting { before = .decided(outcome) }
            swap(&before, &state)
            return before
        }
        switch consume before {
        case .waiting(let handler): eventLoop.execute { handler.value.resume(with: outcome) }
        case .left(let remainder): remainder.settle(outcome)
        // `submit` returns the outcome, and a batch is decided only once.
        default: break
        }
    }
}
