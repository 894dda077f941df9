import EventJournal
import TrackerKit

/// Why a pipeline could not be made, or not run.
public struct PipelineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; `rawValue` is a stable code in kebab-case.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, CaseIterable {
            case trackerNotStarted = "tracker-not-started"
            case trackerNotDelivering = "tracker-not-delivering"
            case invalidTracker = "invalid-tracker"
            case journalHangs = "journal-hangs"
            case alreadyRun = "already-run"
            case duplicateTracker = "duplicate-tracker"
            case tooManyTrackers = "too-many-trackers"
            case missingHashKey = "missing-hash-key"
        }

        package let kind: Kind

        /// A tracker did not start within `Configuration.maximumStartAttempts`.
        public static let trackerNotStarted = Code(kind: .trackerNotStarted)
        /// Deliveries of a tracker made no progress within `Configuration.maximumDeliveryAttempts`.
        public static let trackerNotDelivering = Code(kind: .trackerNotDelivering)
        /// A tracker's settings are invalid; its `checkSettings` says why.
        public static let invalidTracker = Code(kind: .invalidTracker)
        /// The journal could not be closed at the end because its disk does not answer.
        public static let journalHangs = Code(kind: .journalHangs)
        /// `run` was called a second time.
        public static let alreadyRun = Code(kind: .alreadyRun)
        /// Two trackers have names that are equal or differ only in case.
        public static let duplicateTracker = Code(kind: .duplicateTracker)
        /// There are more than 64 trackers.
        public static let tooManyTrackers = Code(kind: .tooManyTrackers)
        /// The plan replaces values by their hashes, and the catalog has no key for them.
        public static let missingHashKey = Code(kind: .missingHashKey)

        /// The code's stable text, for example `tracker-not-started`.
        public var rawValue: String { kind.rawValue }
        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The tracker that failed; `nil` if the error is not about a tracker.
    public let tracker: String?
    /// One sentence for the operator.
    public let message: String
    /// The tracker's error.
    public let underlying: (any Error)?
    /// Always false: somebody has to change something first.
    public var isRetryable: Bool { false }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code)]" }

    static func notStarted(_ tracker: String, _ error: TrackerError) -> PipelineError {
        PipelineError(
            code: .trackerNotStarted,
            tracker: tracker,
            message: "The tracker '\(tracker)' could not start: \(error)",
            underlying: error
        )
    }

    static func notDelivering(_ tracker: String, _ error: TrackerError) -> PipelineError {
        PipelineError(
            code: .trackerNotDelivering,
            tracker: tracker,
            message: "The tracker '\(tracker)' could not deliver: \(error)",
            underlying: error
        )
    }

    static func journalHangs(_ hang: JournalHang, _ durability: JournalConfiguration.Durability) -> PipelineError {
        PipelineError(code: .journalHangs, tracker: nil, message: hang.sentence(durability), underlying: nil)
    }

    static let missingHashKey = PipelineError(
        code: .missingHashKey,
        tracker: nil,
        message: "The plan has sensitive values that are hashed, so the catalog needs a key.",
        underlying: nil
    )

    static let alreadyRun = PipelineError(
        code: .alreadyRun,
        tracker: nil,
        message: "A pipeline runs once; make another one.",
        underlying: nil
    )
}
