import EventJournal
import EventModel
public import EventValidation
import Synchronization

extension Pipeline {
    /// Identifies a batch that waits for room or for its commit to the journal.
    public struct Ticket: Sendable, Hashable {
        package let number: UInt64
    }

    /// What `withdraw` did.
    public struct Withdrawal: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, CaseIterable {
            case withdrawn, uncommitted, committing, decided
        }

        package let kind: Kind

        /// The batch was waiting for room: none of it is accepted, and the completion was called with `cancelled`.
        public static let withdrawn = Withdrawal(kind: .withdrawn)
        /// The batch was waiting for its commit to the journal to begin: none of it is accepted, and the completion was called
        /// with `cancelled`.
        public static let uncommitted = Withdrawal(kind: .uncommitted)
        /// The batch is being written to the journal or delivered, with an unknown outcome; the completion is called at the end.
        public static let committing = Withdrawal(kind: .committing)
        /// The batch was accepted or rejected before; the completion was called, or is being called.
        public static let decided = Withdrawal(kind: .decided)

        /// The name of the case.
        public var description: String { kind.rawValue }
    }

    /// Accepts a whole batch or nothing of it.
    ///
    /// `completion` is called exactly once, on any thread: before this function returns, or later. Success means what the
    /// configuration's `acknowledgement` says; by default, that the batch is in the journal or, without a journal, in the queue of
    /// every tracker that its events name.
    ///
    /// - Returns: A ticket with which the batch can be withdrawn, if it waits.
    public func submit(
        _ batch: EventBatch,
        completion: @escaping @Sendable (Result<Acknowledgement, TrackError>) -> Void
    ) -> Ticket? {
        let routed = plan.router.route(batch)
        let kept = staying(until: completion)
        let admission = decide { state, actions in
            state.submit(routed, mayWait: true, completion: kept, now: clock.now, actions: &actions)
        }
        switch admission {
        case .acknowledged:
            observe(acknowledged: routed)
            completion(.success(.stored))
        case .delivering(let number):
            observe(acknowledged: routed)
            return Ticket(number: number)
        case .rejected(let error): completion(.failure(error))
        case .overdue(let wait): completion(.failure(.notStored(.overdue(for: wait))))
        case .committing(let number), .waiting(let number): return Ticket(number: number)
        }
        return nil
    }

    /// Accepts a whole batch at once, or nothing of it; never waits for room or for the journal.
    func submitWithoutWaiting(_ batch: EventBatch) throws(TrackError) {
        let routed = plan.router.route(batch)
        let kept = staying { _ in }
        let admission = decide { state, actions in
            state.submit(routed, mayWait: false, completion: kept, now: clock.now, actions: &actions)
        }
        switch admission {
        case .acknowledged, .delivering: observe(acknowledged: routed)
        case .committing: break
        case .rejected(let error): throw error
        case .overdue(let wait): throw .notStored(.overdue(for: wait))
        case .waiting: preconditionFailure("a batch that may not wait is accepted or rejected at once")
        }
    }

    /// Keeps the pipeline alive until a batch that waits for the journal is committed or rejected, even if nothing else refers to
    /// the pipeline.
    private func staying(
        until completion: @escaping WaitingSubmission.Completion
    ) -> WaitingSubmission.Completion {
        guard journal != nil else { return completion }
        return { result in
            completion(result)
            withExtendedLifetime(self) {}
        }
    }

    /// Withdraws a batch that waits for room or for its commit to the journal to begin.
    ///
    /// If the batch can still be withdrawn, the completion is called with `cancelled` before this function returns.
    @discardableResult
    public func withdraw(_ ticket: Ticket) -> Withdrawal {
        decide { state, actions in state.withdraw(number: ticket.number, now: clock.now, actions: &actions) }
    }

    /// How long to wait before sending again what was not accepted: from 1 second to 5 minutes; `nil` if the error is not
    /// retryable.
    ///
    /// If the journal is full, this estimates when its oldest segment can be removed, from the progress of the slowest tracker in
    /// the last ten seconds; it is 30 seconds if no tracker makes progress. It is 5 seconds if the journal's disk does not write,
    /// and 1 second if the pipeline had no room.
    public func retryAfter(_ error: TrackError) -> Duration? {
        guard error.isRetryable else { return nil }
        guard let journalError = error.journalError else { return .seconds(1) }
        guard journalError.code == .full, let journal else { return .seconds(5) }
        let oldest = journal.store.position.segments.first?.nextSequence ?? 0
        let wait = decide { state, _ in state.drain.wait(until: oldest) } ?? .seconds(30)
        return min(max(wait, .seconds(1)), .seconds(300))
    }
}

extension Pipeline {
    /// Accepts a whole batch or nothing of it; suspends while there is no room.
    ///
    /// When it returns, the batch is stored or delivered, as the configuration's `acknowledgement` says. If the task is cancelled while
    /// the batch waits for room or for its commit to begin, the batch is withdrawn.
    ///
    /// - Throws: `TrackError` with the code `cancelled` after a cancellation, `closed` while the pipeline shuts down, or
    ///   `notStored` if the journal does not accept the batch, or `unavailable` if a tracker has to deliver it first and does not
    ///   deliver at the moment; nothing is accepted then. `outcomeUnknown` after a cancellation while the batch was being written
    ///   to the journal or delivered.
    @discardableResult
    public func submit(_ batch: EventBatch) async throws(TrackError) -> Acknowledgement {
        let answer = SubmissionAnswer()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: SubmissionAnswer.Continuation) in
                answer.wait(continuation)
                let ticket = submit(batch) { answer.give($0) }
                if let ticket, answer.isCancelled(keeping: ticket) { cancel(ticket, answer) }
            }
        } onCancel: {
            if let ticket = answer.cancel() { cancel(ticket, answer) }
        }
        return try result.get()
    }

    private func cancel(_ ticket: Ticket, _ answer: SubmissionAnswer) {
        if withdraw(ticket) == .committing { answer.give(.failure(.outcomeUnknown)) }
    }
}

/// The answer that a task waits for, and the task's cancellation, which needs a ticket.
///
/// The first answer counts.
private final class SubmissionAnswer: Sendable {
    typealias Continuation = CheckedContinuation<Result<Pipeline.Acknowledgement, TrackError>, Never>

    private struct State {
        var continuation: Continuation?
        var ticket: Pipeline.Ticket?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func wait(_ continuation: Continuation) {
        state.withLock { $0.continuation = continuation }
    }

    /// Ends the wait if it has not ended yet.
    func give(_ result: Result<Pipeline.Acknowledgement, TrackError>) {
        state.withLock { $0.continuation.take() }?.resume(returning: result)
    }

    /// Keeps the ticket for a later cancellation; returns whether the task was cancelled already.
    func isCancelled(keeping ticket: Pipeline.Ticket) -> Bool {
        state.withLock { state in
            state.ticket = ticket
            return state.isCancelled
        }
    }

    /// Records the cancellation, and returns the ticket if there is one yet.
    func cancel() -> Pipeline.Ticket? {
        state.withLock { state in
            state.isCancelled = true
            return state.ticket
        }
    }
}
