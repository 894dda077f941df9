/// Where a tracker that stores its own checkpoint resumes.
///
/// The tracker's checkpoint wins, because it was stored together with the events, unless it equals the checkpoint stored with the
/// cursor. Then the cursor wins: it may be ahead, by events that were not the tracker's or that it refused.
package struct Resumption: Sendable, Equatable {
    /// How the checkpoint compares with the cursor.
    package enum Finding: Sendable {
        /// The checkpoint is the one stored with the cursor.
        case agrees
        /// The checkpoint is ahead: the cursor was lost, or the process ended before it was moved.
        case ahead
        /// The checkpoint is behind: the destination was restored from a backup, or is another one.
        case behind
        /// The checkpoint is beyond the journal's end: the journal is an older copy, whose numbers mean other events.
        case beyondJournal
    }

    /// The number of the first event that the tracker gets.
    package let sequence: UInt64
    /// How the checkpoint compares with the cursor.
    package let finding: Finding
    /// The checkpoint to store with the cursor.
    package let checkpoint: UInt64?
    /// The events between the checkpoint and the journal's beginning, which are lost.
    package let missing: Range<UInt64>?

    /// Compares a tracker's checkpoint with its cursor.
    ///
    /// `answer` is the tracker's checkpoint, `cursor` the cursor in the journal's folder, and `known` the checkpoint stored with
    /// it. `journal` is the range from the oldest event to the journal's end when it was opened.
    package init(from answer: UInt64?, cursor: UInt64, known: UInt64?, journal: ClosedRange<UInt64>) {
        checkpoint = answer
        if answer == known {
            (sequence, finding, missing) = (cursor, .agrees, nil)
        } else if let answer, answer > journal.upperBound {
            (sequence, finding, missing) = (cursor, .beyondJournal, nil)
        } else {
            let wanted = answer ?? 0
            sequence = max(wanted, journal.lowerBound)
            finding = wanted < cursor ? .behind : .ahead
            // Without a checkpoint, it is unknown where the tracker began.
            missing = answer != nil && wanted < sequence ? wanted..<sequence : nil
        }
    }
}
