/// Where a tracker that keeps its own place in the journal begins.
///
/// Its own word counts, because it was stored together with the events. Only where it says what was known already does the
/// cursor stand: that may be ahead of it, by events that were none of the tracker's, or that it refused.
package struct Resumption: Sendable, Equatable {
    /// How the tracker's word and the cursor go together.
    package enum Finding: Sendable {
        /// The tracker says what is known.
        case agrees
        /// It has got further than is known: its cursor, or the process, was lost before it moved.
        case ahead
        /// It has lost what it had: it was restored from a backup, or is another one.
        case behind
        /// It has got further than the journal goes: the journal is an older copy, whose numbers mean other events.
        case beyondJournal
    }

    /// The number of the first event that it gets.
    package let sequence: UInt64
    /// How the two go together.
    package let finding: Finding
    /// What it is known from now on to have stored.
    package let checkpoint: UInt64?
    /// The events between its checkpoint and the journal's beginning, which nobody has any more.
    package let missing: Range<UInt64>?

    /// Decides.
    ///
    /// `answer` is what the tracker says, `cursor` what the journal's folder says, and `known` what the tracker was last
    /// known to have stored. `journal` goes from the oldest event that is there to the end at the journal's opening.
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
            // Without an answer nobody knows where it began.
            missing = answer != nil && wanted < sequence ? wanted..<sequence : nil
        }
    }
}
