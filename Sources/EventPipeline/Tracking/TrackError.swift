import EventJournal
import EventValidation

/// Why an event was not taken; nothing of the call was, unless the error says otherwise.
public enum TrackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The event does not follow the plan.
    case invalid(InvalidEvent)
    /// The pipeline did not take it.
    case notTaken(SubmissionError)
    /// The event's commit to the journal was being written when the wait for it ended: it may be delivered, or not.
    ///
    /// Tracking it again is safe only with an `id` of your own, and only PostgreSQL removes the duplicate.
    case outcomeUnknown

    init(_ error: SubmissionError) {
        self = error == .outcomeUnknown ? .outcomeUnknown : .notTaken(error)
    }

    /// Whether the same event may be taken later.
    public var isRetryable: Bool {
        switch self {
        case .invalid: false
        case .notTaken(.notStored(let error)): error.isRetryable
        case .notTaken(.withdrawn): true
        case .notTaken(.closed), .notTaken(.outcomeUnknown), .outcomeUnknown: false
        }
    }

    /// One sentence; never the values.
    public var description: String {
        switch self {
        case .invalid(let event): event.description
        case .notTaken(.withdrawn): "The task was cancelled while the event waited to be taken."
        case .notTaken(.closed): "The pipeline is shutting down."
        case .notTaken(.notStored(let error)): error.message
        case .outcomeUnknown, .notTaken(.outcomeUnknown):
            "The wait ended while the event was being written to the journal: it may be delivered, or not."
        }
    }
}

/// Why `track(contentsOf:)` did not take all events.
public struct TrackInterruption: Error, Sendable, Hashable, CustomStringConvertible {
    /// How many events were taken, from the first on; those behind them were not.
    public let taken: Int
    /// Why the next one was not, or for `notTaken` those of its batch.
    public let reason: TrackError

    /// Whether those that were not taken may be taken later.
    public var isRetryable: Bool { reason.isRetryable }

    /// How many, and why; never the values.
    public var description: String { "\(taken) events were taken, those behind them not: \(reason)" }
}

/// What became of an event that could not wait.
public enum TrackOutcome: Sendable, Hashable {
    /// The event is in the queues of its trackers; with a journal it is on its way there, and where that becomes full or
    /// fails just then, the log says so.
    case taken
    /// A queue that it needs is full, and its policy is to wait; or with a journal, as much as a queue takes is on its way
    /// there.
    case full
    /// The journal cannot be written, or is full.
    case notStored
    /// The pipeline is shutting down.
    case closed
}
