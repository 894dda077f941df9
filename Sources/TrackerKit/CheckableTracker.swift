public import EventValidation

/// A tracker that can say what is wrong with its destination without delivering anything; `sluice check` asks it.
public protocol CheckableTracker: Tracker {
    /// Connects, and compares the destination with what the catalog's events need. Changes nothing there.
    ///
    /// `usesJournal` says whether the tracker's pipeline will have a journal: then a `CheckpointingTracker` also checks
    /// where it stores checkpoints. Returns within a second of its cancellation; the caller sets the time limit.
    ///
    /// Returns every problem that was found, each with the way out in its sentence; none where events can be delivered.
    func problems(for catalog: EventCatalog, usesJournal: Bool) async -> [TrackerError]
}
