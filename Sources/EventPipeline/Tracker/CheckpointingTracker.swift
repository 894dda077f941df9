public import Journal

/// How far a tracker has got in a journal.
public struct Checkpoint: Sendable, Hashable {
    /// The journal that the number is of.
    public let journal: JournalID
    /// The number of the first event that the tracker still needs: everything before it is settled.
    ///
    /// Less than 2^63.
    public let nextSequence: UInt64

    /// Names a place in a journal.
    public init(journal: JournalID, nextSequence: UInt64) {
        self.journal = journal
        self.nextSequence = nextSequence
    }
}

/// A tracker that stores how far it has got together with the events, so that each comes to it exactly once.
///
/// The promises beyond those of `Tracker`:
///
/// - **Together.** Where all events of a delivery are delivered, its `checkpoint` is stored in the same transaction as
///   the last of them. Where one is refused or to be tried again, it is not stored: the events before it are not all
///   settled, or not yet in the quarantine.
/// - **As it comes.** What is stored is replaced, also by a smaller number, and kept for each journal and tracker apart.
/// - **In doubt.** Where it is not known whether a transaction was committed, the outcome is a retry, and the next
///   delivery finds out.
///
/// At each start the pipeline asks for what is stored, and begins there. A delivery without a checkpoint, as in a pipeline
/// without a journal, leaves what is stored alone.
public protocol CheckpointingTracker: Tracker {
    /// The number that was stored last for a journal; `nil` where none was.
    ///
    /// Asked after each `start` that succeeded, before the first delivery. An error counts as one of `start`. What an
    /// earlier process sent and did not see committed is committed or gone when this returns.
    func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64?
}
