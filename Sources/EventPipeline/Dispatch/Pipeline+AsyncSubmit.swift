import EventValidation
import Synchronization

extension Pipeline {
    /// Takes a whole batch or nothing of it; suspends while there is no room.
    ///
    /// Returning means acknowledged: the batch is in the queue of every tracker its events name, or with a journal in the
    /// journal. When the task is cancelled while the batch waits for room, or for its commit to the journal to begin, the batch is
    /// withdrawn; when its commit is being written, this throws `outcomeUnknown` at once.
    ///
    /// - Throws: `withdrawn` after a cancellation, `closed` while the pipeline shuts down, `notStored` where the journal
    ///   does not take it: nothing was taken then. `outcomeUnknown` where nobody can say.
    public func submit(_ batch: EventBatch) async throws(SubmissionError) {
        let answer = SubmissionAnswer()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, SubmissionError>, Never>) in
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

/// The answer that a task waits for, which gets the first that comes; and its cancellation, which needs a ticket.
private final class SubmissionAnswer: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Void, SubmissionError>, Never>?
        var ticket: Pipeline.Ticket?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func wait(_ continuation: CheckedContinuation<Result<Void, SubmissionError>, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    /// Ends the wait, unless it has ended before.
    func give(_ result: Result<Void, SubmissionError>) {
        state.withLock { $0.continuation.take() }?.resume(returning: result)
    }

    /// Keeps the ticket for a later cancellation; true where that has already been.
    func isCancelled(keeping ticket: Pipeline.Ticket) -> Bool {
        state.withLock { state in
            state.ticket = ticket
            return state.isCancelled
        }
    }

    /// Notes the cancellation, and returns the ticket where there is one.
    func cancel() -> Pipeline.Ticket? {
        state.withLock { state in
            state.isCancelled = true
            return state.ticket
        }
    }
}
