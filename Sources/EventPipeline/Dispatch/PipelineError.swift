/// Why a pipeline could not be made, or not run.
public struct PipelineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// A tracker could not start, and trying again would not help.
        case trackerNotStarted = "tracker-not-started"
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

    /// - Throws: Where these cannot be the trackers of one pipeline.
    static func check(_ trackers: [any Tracker]) throws(PipelineError) {
        guard trackers.count <= EventCatalog.maximumTrackers else {
            throw PipelineError(
                code: .tooManyTrackers,
                tracker: nil,
                message:
                    "A pipeline has at most \(EventCatalog.maximumTrackers) trackers, and these are \(trackers.count).",
                underlying: nil
            )
        }
        var names: Set<String> = []
        for tracker in trackers where !names.insert(tracker.name.lowercased()).inserted {
            throw PipelineError(
                code: .duplicateTracker,
                tracker: tracker.name,
                message: "Two trackers are named '\(tracker.name)'; events name each by a name of its own.",
                underlying: nil
            )
        }
    }

    static let alreadyRun = PipelineError(
        code: .alreadyRun,
        tracker: nil,
        message: "A pipeline runs once; make another one.",
        underlying: nil
    )
}
