import Synchronization

extension Pipeline {
    /// Takes a whole batch or nothing of it; suspends while there is no room.
    ///
    /// Returning means acknowledged: the batch is in the queue of every tracker its events name. When the task is
    /// cancelled while it waits, the batch is withdrawn.
    ///
    /// - Throws: `withdrawn` after a cancellation, `closed` while the pipeline shuts down. Nothing was taken then.
    public func submit(_ batch: EventBatch) async throws(SubmissionError) {
        let withdrawal = Withdrawal()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, SubmissionError>, Never>) in
                let ticket = submit(batch) { continuation.resume(returning: $0) }
                if let ticket, withdrawal.isDue(with: ticket) { withdraw(ticket) }
            }
        } onCancel: {
            if let ticket = withdrawal.cancel() { withdraw(ticket) }
        }
        return try result.get()
    }
}

/// Brings a ticket and a cancellation together, whichever comes first.
private final class Withdrawal: Sendable {
    private struct State {
        var ticket: Pipeline.Ticket?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Keeps the ticket for a later cancellation; true where that has already been.
    func isDue(with ticket: Pipeline.Ticket) -> Bool {
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
