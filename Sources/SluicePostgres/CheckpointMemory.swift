package import EventModel
package import TrackerKit

/// What a session knows to be stored for each journal, so that a checkpoint replaces only that.
package struct CheckpointMemory: Sendable {
    /// How what is stored compares with what is known.
    package enum Finding: Sendable, Hashable {
        /// It is what is known.
        case unchanged
        /// It is what was sent last: the answer to its commit was lost.
        case committed
        /// Somebody else stored it.
        case superseded
    }

    private enum Entry {
        /// The number that is stored, if any; and one that was sent and may be stored.
        case known(UInt64?, sent: UInt64?)
        /// Somebody else has stored a number; nothing is stored before the session is asked again.
        case superseded
    }

    private var entries: [JournalID: Entry] = [:]

    package init() {}

    /// What is known to be stored; `nil` where nothing may be stored, because nobody asked, or somebody else has stored.
    package func known(of journal: JournalID) -> UInt64?? {
        if case .known(let number, _) = entries[journal] { .some(number) } else { nil }
    }

    /// Whether somebody else has stored a number since the session was asked.
    package func isSuperseded(in journal: JournalID) -> Bool {
        if case .superseded = entries[journal] { true } else { false }
    }

    /// The session was asked what is stored, and this is the answer.
    package mutating func asked(about journal: JournalID, answer: UInt64?) {
        entries[journal] = .known(answer, sent: nil)
    }

    /// A new connection found this to be stored.
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

    /// A transaction that stores this begins.
    package mutating func sends(_ checkpoint: Checkpoint) {
        guard case .known(let known, _) = entries[checkpoint.journal] else { return }
        entries[checkpoint.journal] = .known(known, sent: checkpoint.nextSequence)
    }

    /// The transaction has ended, and is known to have stored it or not.
    package mutating func ended(_ checkpoint: Checkpoint, isStored: Bool) {
        guard case .known(let known, _) = entries[checkpoint.journal] else { return }
        entries[checkpoint.journal] = .known(isStored ? checkpoint.nextSequence : known, sent: nil)
    }

    /// A transaction found another number than the known one.
    package mutating func supersede(in journal: JournalID) {
        entries[journal] = .superseded
    }
}
