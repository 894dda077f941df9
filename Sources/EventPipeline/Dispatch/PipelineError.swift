/// Why a pipeline could not run.
public struct PipelineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// A tracker could not start, and trying again would not help.
        case trackerNotStarted = "tracker-not-started"
        /// `run` was called a second time.
        case alreadyRun = "already-run"
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

    static let alreadyRun = PipelineError(
        code: .alreadyRun,
        tracker: nil,
        message: "A pipeline runs once; make another one.",
        underlying: nil
    )
}
