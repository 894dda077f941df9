import EventJournal
import TrackerKit

/// Why a pipeline could not be made, or not run.
public struct PipelineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// A tracker did not start within `Configuration.maximumStartAttempts`.
        case trackerNotStarted = "tracker-not-started"
        /// Deliveries of a tracker made no progress within `Configuration.maximumDeliveryAttempts`.
        case trackerNotDelivering = "tracker-not-delivering"
        /// A tracker's settings cannot work; its `checkSettings` says why.
        case invalidTracker = "invalid-tracker"
        /// The journal could not be closed at the end, because its disk does not answer.
        case journalHangs = "journal-hangs"
        /// `run` was called a second time.
        case alreadyRun = "already-run"
        /// Two trackers have names that differ in case at most.
        case duplicateTracker = "duplicate-tracker"
        /// There are more than 64 trackers.
        case tooManyTrackers = "too-many-trackers"
    }

    /// What kind of failure it is.
    public let code: Code
    /// The tracker that failed, where one did.
    public let tracker: String?
    /// One sentence for the operator.
    public let message: String
    /// What the tracker said.
    public let underlying: (any Error)?
    /// Never: somebody has to change something first.
    public var isRetryable: Bool { false }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }

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

    static let alreadyRun = PipelineError(
        code: .alreadyRun,
        tracker: nil,
        message: "A pipeline runs once; make another one.",
        underlying: nil
    )
}
