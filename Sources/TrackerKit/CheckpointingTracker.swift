public import EventModel

/// The position of a tracker in a journal: a committed offset.
public struct Checkpoint: Sendable, Hashable {
    /// The journal that the sequence number belongs to.
    public let journal: JournalID
    /// The sequence number of the first event that the tracker still needs; all events before it are settled.
    ///
    /// Less than 2^63.
    public let nextSequence: UInt64

    /// Makes a checkpoint.
    public init(journal: JournalID, nextSequence: UInt64) {
        self.journal = journal
        self.nextSequence = nextSequence
    }
}

/// A tracker that stores its checkpoint in the same transaction as the events, so that each event is delivered exactly
/// once.
///
/// It makes these promises in addition to those of `Tracker`:
///
/// - **Together.** If all events of a delivery are delivered, its `checkpoint` is stored in the same transaction as the last
///   of them. If an event is refused or has to be retried, the checkpoint is not stored, because not all events before it are
///   settled or in the quarantine yet.
/// - **Compare and set.** Storing a checkpoint replaces exactly the value that this tracker last read or stored for the
///   journal, or no value if there was none; a smaller number may replace a larger one. Each pair of journal and tracker has
///   its own value.
/// - **Superseded.** If another value is stored, another process has taken over. Then no event of the delivery is delivered,
///   and the outcome is a retry of the whole delivery with the code `superseded`, as is every later outcome for this journal
///   until `checkpoint(ofJournal:)` is called again.
/// - **In doubt.** If the tracker does not know whether a transaction was committed, the outcome is a retry, and the next
///   delivery finds out. The tracker recognizes its own commit even if the response to it was lost.
/// - **Parts.** A delivery with a journal but without a checkpoint is a part of a larger one. The stored value is compared as
///   usual and is not changed.
///
/// After each start, except one for a new plan, the pipeline reads the stored checkpoint and continues there. A tracker that is
/// started for a new plan keeps its position. A delivery without a journal neither reads nor changes the stored value.
public protocol CheckpointingTracker: Tracker {
    /// The sequence number that was last stored for a journal; `nil` if there is none.
    ///
    /// The pipeline calls it after each successful `start`, before the first delivery, and treats an error like one of
    /// `start`; it does not call it after a `start` for a new plan. When it returns, every transaction that an earlier process left
    /// open is committed or rolled back.
    func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64?
}
