public import EventJournal
import EventModel
public import EventValidation

/// Why the pipeline did not accept a batch or an event.
///
/// Nothing of the call was accepted, except possibly with the code `outcomeUnknown`. `track`, `tryTrack` and `submit` throw
/// this error.
public struct TrackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is; `rawValue` is a stable code in kebab-case.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, CaseIterable {
            case invalid
            case full
            case closed
            case cancelled
            case notStored = "not-stored"
            case outcomeUnknown = "outcome-unknown"
            case unavailable
        }

        package let kind: Kind

        /// The event does not follow the plan; `violations` says why.
        public static let invalid = Code(kind: .invalid)
        /// `tryTrack` found no room: a queue with the policy `wait` is full, or as many events as a queue holds are waiting to be
        /// committed to the journal.
        public static let full = Code(kind: .full)
        /// The pipeline is shutting down or has shut down, or an operator has stopped its intake.
        public static let closed = Code(kind: .closed)
        /// The batch was withdrawn, or its task was cancelled, before its commit to the journal began.
        public static let cancelled = Code(kind: .cancelled)
        /// The journal did not accept the batch; `journalError` says why.
        public static let notStored = Code(kind: .notStored)
        /// The wait ended while the batch was being written to the journal: its events may or may not be delivered.
        ///
        /// Sending the events again is safe only if they have ids of their own, and only PostgreSQL removes the duplicates.
        public static let outcomeUnknown = Code(kind: .outcomeUnknown)

        /// A tracker does not deliver at the moment, and the pipeline acknowledges only what is delivered.
        public static let unavailable = Code(kind: .unavailable)

        /// The code's stable text, for example `not-stored`.
        public var rawValue: String { kind.rawValue }
        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// The event that does not follow the plan, with the code `invalid`; otherwise `nil`.
    public let invalidEvent: InvalidEvent?
    /// Why the journal did not accept the batch, with the code `notStored`; otherwise `nil`.
    public let journalError: JournalError?

    private init(_ code: Code, invalidEvent: InvalidEvent? = nil, journalError: JournalError? = nil) {
        self.code = code
        self.invalidEvent = invalidEvent
        self.journalError = journalError
    }

    package static func invalid(_ event: InvalidEvent) -> TrackError { TrackError(.invalid, invalidEvent: event) }
    package static func notStored(_ error: JournalError) -> TrackError { TrackError(.notStored, journalError: error) }
    /// An error with the code `full`, for the tests of a program that handles it.
    public static let full = TrackError(.full)
    /// An error with the code `closed`, for the tests of a program that handles it.
    public static let closed = TrackError(.closed)
    /// An error with the code `cancelled`, for the tests of a program that handles it.
    public static let cancelled = TrackError(.cancelled)
    /// An error with the code `outcomeUnknown`, for the tests of a program that handles it.
    public static let outcomeUnknown = TrackError(.outcomeUnknown)

    /// An error with the code `unavailable`, for the tests of a program that handles it.
    public static let unavailable = TrackError(.unavailable)

    /// The rules that the event broke; empty unless the code is `invalid`.
    public var violations: [Violation] { invalidEvent?.violations ?? [] }

    /// Whether the same events may be accepted later.
    ///
    /// `Pipeline.retryAfter(_:)` suggests when.
    public var isRetryable: Bool {
        switch code.kind {
        case .full, .cancelled, .unavailable: true
        case .notStored: journalError?.isRetryable ?? false
        case .invalid, .closed, .outcomeUnknown: false
        }
    }

    /// One sentence that says what happened; it never contains payload values.
    public var message: String {
        switch code.kind {
        case .invalid: invalidEvent?.description ?? "The event does not follow the plan."
        case .full: "There is no room for the event."
        case .closed: "The pipeline is shutting down."
        case .cancelled: "The wait was cancelled before the event was accepted."
        case .notStored: journalError?.message ?? "The journal did not accept the event."
        case .outcomeUnknown:
            "The wait ended while the event was being written to the journal: it may or may not be delivered."
        case .unavailable:
            "The destination does not accept events at the moment, and nothing is acknowledged without it."
        }
    }

    /// The message.
    public var description: String { message }
}

/// Why `track(contentsOf:)` did not accept all events.
public struct TrackInterruption: Error, Sendable, Hashable, CustomStringConvertible {
    /// How many events were accepted, counted from the first; the later ones were not.
    public let acceptedCount: Int
    /// Why the next event was not accepted or, unless the code is `invalid`, the next batch of events.
    public let reason: TrackError

    /// Whether the remaining events may be accepted later.
    public var isRetryable: Bool { reason.isRetryable }

    /// How many events were accepted, and why the others were not; it never contains payload values.
    public var description: String { "\(acceptedCount.of("event")) accepted, the later ones not: \(reason)" }
}
