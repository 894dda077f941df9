/// Why a tracker could not start or deliver.
///
/// `description` never holds a value from an event, so that it can be logged; `debugDescription` may.
public struct TrackerError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What kind of failure it is.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable text.
        public let description: String

        /// Names a code of a tracker's own, in kebab-case.
        public init(_ description: String) {
            self.description = description
        }

        /// The destination cannot be reached, or is starting or stopping.
        public static let unavailable = Code("unavailable")
        /// The destination did not answer in time.
        public static let timeout = Code("timeout")
        /// The settings cannot work, whatever the destination says: a malformed address, an unknown property.
        ///
        /// Thrown by `checkSettings`.
        public static let invalidSettings = Code("invalid-settings")
        /// The destination does not let the tracker in: a wrong password, a missing privilege, an unknown database.
        public static let misconfigured = Code("misconfigured")
        /// The destination lacks something that must be created first: a table, a column, a topic.
        public static let notPrepared = Code("not-prepared")
        /// Another process stores checkpoints for the same journal and tracker.
        ///
        /// A `CheckpointingTracker` answers it to a delivery whose checkpoint it did not store. The pipeline starts the
        /// tracker again, and asks it where to begin.
        public static let superseded = Code("superseded")
        /// The delivery was cancelled before it was done.
        public static let cancelled = Code("cancelled")
        /// Anything else.
        public static let failed = Code("failed")
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for the operator, with the way out where there is one.
    public let message: String
    /// Whether the same call may succeed later although nobody changes anything.
    ///
    /// The pipeline tries again in either case, because somebody may fix the destination; where this is false it shows
    /// the tracker as `blocked`.
    public let isRetryable: Bool
    /// What the library below said.
    public let underlying: (any Error)?

    /// Says why.
    public init(code: Code, message: String, isRetryable: Bool, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.underlying = underlying
    }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code)]" }

    /// The sentence, the code, and the error below.
    public var debugDescription: String {
        underlying.map { "\(description) (\(String(reflecting: $0)))" } ?? description
    }
}
