/// Why a tracker could not start or deliver.
///
/// `description` never shows a value of an event, so it can be logged; `debugDescription` may.
public struct TrackerError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind of a failure; a tracker may define codes of its own.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable text.
        public let description: String

        /// Makes a code of your own; its text is in kebab case.
        public init(_ description: String) {
            self.description = description
        }

        /// The destination cannot be reached, or is starting or stopping.
        public static let unavailable = Code("unavailable")
        /// The destination did not answer in time.
        public static let timeout = Code("timeout")
        /// A setting is invalid, whatever the state of the destination: a malformed address, an unknown property.
        ///
        /// Thrown by `checkSettings`.
        public static let invalidSettings = Code("invalid-settings")
        /// The destination denies access: a wrong password, a missing privilege, an unknown database.
        public static let misconfigured = Code("misconfigured")
        /// The destination lacks something that must be created first: a table, a column, a topic.
        public static let notPrepared = Code("not-prepared")
        /// Another process stores checkpoints for the same journal and tracker.
        ///
        /// A `CheckpointingTracker` returns it for a delivery whose checkpoint it did not store. The pipeline starts the
        /// tracker again and continues at the checkpoint that is stored.
        public static let superseded = Code("superseded")
        /// The delivery was cancelled before it finished.
        public static let cancelled = Code("cancelled")
        /// Any other failure.
        public static let failed = Code("failed")
    }

    /// The kind of the failure.
    public let code: Code
    /// One sentence for the operator, with a remedy if there is one.
    public let message: String
    /// Whether the same call may succeed later without anybody changing anything.
    ///
    /// The pipeline retries in either case, because somebody may fix the destination; if this is false, it reports the tracker
    /// as `blocked`.
    public let isRetryable: Bool
    /// The error of the underlying library, if there was one.
    public let underlying: (any Error)?

    /// Makes an error.
    public init(code: Code, message: String, isRetryable: Bool, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.underlying = underlying
    }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code)]" }

    /// The sentence, the code, and the underlying error.
    public var debugDescription: String {
        underlying.map { "\(description) (\(String(reflecting: $0)))" } ?? description
    }
}

extension TrackerError {
    /// The delivery was cancelled before it finished.
    package static let cancelled = TrackerError(
        code: .cancelled,
        message: "The delivery was cancelled.",
        isRetryable: true
    )

    /// Whether both have the same cause: the same code of the destination if both have one, otherwise the same code and message.
    package func isLike(_ other: TrackerError) -> Bool {
        if let cause = (underlying as? any CodedFailure)?.failureCode,
            let otherCause = (other.underlying as? any CodedFailure)?.failureCode
        {
            return cause == otherCause
        }
        return code == other.code && message == other.message
    }

    /// Whether the destination cannot be reached or does not answer, which says nothing about the events.
    package var isOutage: Bool { code == .unavailable || code == .timeout || code == .cancelled }
}

/// The error of a library that has a stable code, which stays the same whatever was sent.
package protocol CodedFailure: Error {
    /// The code; `nil` if the failure is not the destination's.
    var failureCode: String? { get }
}
