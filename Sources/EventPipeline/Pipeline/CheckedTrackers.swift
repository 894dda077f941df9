import EventValidation
import TrackerKit

/// The validated trackers of a pipeline: not too many, with different names, and with settings that can work.
///
/// The initializers of `Pipeline` that call each other pass them on, so that each tracker is checked once.
struct CheckedTrackers: Sendable {
    let trackers: [any Tracker]
    /// The plan that their settings were checked for.
    let catalog: EventCatalog
    /// The catalog for each tracker, in which everything is dropped that the plan hides from it.
    let catalogs: [EventCatalog]

    var names: [String] { trackers.map(\.name) }

    /// - Throws: If these cannot be the trackers of one pipeline.
    init(_ trackers: [any Tracker], catalog: EventCatalog) throws(PipelineError) {
        guard !catalog.lacksHashKey else { throw .missingHashKey }
        try Self.checkNames(of: trackers)
        catalogs = trackers.map { catalog.visible(to: $0.name) }
        for (tracker, catalog) in zip(trackers, catalogs) {
            do throws(TrackerError) {
                try tracker.checkSettings(for: catalog)
            } catch {
                throw PipelineError(
                    code: .invalidTracker,
                    tracker: tracker.name,
                    message: "The settings of the tracker '\(tracker.name)' cannot work: \(error)",
                    underlying: error
                )
            }
        }
        self.trackers = trackers
        self.catalog = catalog
    }

    private static func checkNames(of trackers: [any Tracker]) throws(PipelineError) {
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
}
