package import EventModel
package import TrackerKit

/// The checkpoints that a session knows to be stored, so that a new one replaces only the one that it knows.
package struct CheckpointMemory: Sendable {
    /// How the stored checkpoint compares with the known one.
    package enum Finding: Sendable, Hashable {
        /// They are equal.
        case unchanged
        /// The stored one is the one sent last: the response to its commit was lost.
        case committed
        /// Another process stored it.
        case superseded
    }

    private enum Entry {
        /// The stored number, if any, and one that was sent and may have been stored.
        case known(UInt64?, sent: UInt64?)
        /// Another process stored a number; this session stores nothing until its checkpoint is requested again.
        case superseded
    }

    private var entries: [JournalID: Entry] = [:]

    package init() {}

    /// The known checkpoint; `nil` if this session may store none, because none was requested or another process stored
    /// one.
    package func known(of journal: JournalID) -> UInt64?? {
        if case .known(let number, _) = entries[journal] { .some(number) } else { nil }
    }

    /// Whether another process stored a number since the checkpoint was requested.
    package func isSuperseded(in journal: JournalID) -> Bool {
        if case .superseded = entries[journal] { true } else { false }
    }

    /// Records the answer to a request for the checkpoint.
    package mutating func asked(about journal: JournalID, answer: UInt64?) {
        entries[journal] = .known(answer, sent: nil)
    }

    /// Compares what a new connection found with what is known.
    package mutating func found(_ number: UInt64?, in journal: JournalID) -> Finding {
        guard case .known(let known, let sent) = entries[journal] else { return .superseded }
        if number == known {
            entries[journal] = .known(known, sent: nil)
            return .unchanged
        }
        guard let sent, number == sent else {
            entries[journal] = .superseded
            return .superseded
        }
        entries[journal] = .known(sent, sent: nil)
        return .committed
    }

    /// Records that a transaction begins that stores the checkpoint.
    package mutating func sends(_ checkpoint: Checkpoint) {
        guard case .known(let known, _) = entries[checkpoint.journal] else { return }
        entries[checkpoint.journal] = .known(known, sent: checkpoint.nextSequence)
    }

    /// Records that the transaction ended, and whether it stored the checkpoint.
    package mutating func ended(_ checkpoint: Checkpoint, isStored: Bool) {
        guard case .known(let known, _) = entries[checkpoint.journal] else { return }
        entries[checkpoint.journal] = .known(isStored ? checkpoint.nextSequence : known, sent: nil)
    }

    /// Records that a transaction found a number other than the known one.
    package mutating func supersede(in journal: JournalID) {
        entries[journal] = .superseded
    }
}
