public import EventModel

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

/// A tracker that stores how far it has got together with the events, so that each event reaches its destination exactly
/// once.
///
/// The promises beyond those of `Tracker`:
///
/// - **Together.** Where all events of a delivery are delivered, its `checkpoint` is stored in the same transaction as
///   the last of them. Where one is refused or has to be tried again, it is not stored: the events before it are not all
///   settled, or not yet in the quarantine.
/// - **Compare and set.** Storing a checkpoint replaces exactly the value that this tracker last read or stored for the
///   journal, none included; a smaller number may replace a larger one. Values are kept for each journal and tracker
///   apart.
/// - **Superseded.** Where another value is stored, another process has taken over. Then nothing of the delivery is
///   delivered, the outcome is a retry of all of it with the code `superseded`, and so is every later outcome for this
///   journal until `checkpoint(ofJournal:)` is called again.
/// - **In doubt.** Where the tracker does not know whether a transaction was committed, the outcome is a retry, and the
///   next delivery finds out. A commit of its own whose answer was lost is not somebody else's.
///
/// - **Parts.** A delivery with a journal and without a checkpoint is a part of another one. What is stored is compared as
///   for any other delivery, and is not changed.
///
/// After each start the pipeline asks for the stored checkpoint, and continues there. A delivery without a journal neither
/// reads nor changes what is stored.
public protocol CheckpointingTracker: Tracker {
    /// The number that was stored last for a journal; `nil` where none was.
    ///
    /// Asked after each `start` that succeeded, before the first delivery. An error counts as one of `start`. What an
    /// earlier process sent and did not see committed is committed or rolled back when this returns.
    func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64?
}
