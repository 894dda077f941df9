package import EventJournal
import EventModel

/// What a journal's disk had not finished when its pipeline ended.
package struct JournalHang: Sendable, Hashable {
    /// How long the disk had not answered; `nil` if it answered until the end.
    package let wait: Duration?
    /// The events of the commit that was being written.
    package let events: Int

    package init(wait: Duration?, events: Int) {
        self.wait = wait
        self.events = events
    }

    /// What is unknown, in one or two sentences.
    package func sentence(_ durability: JournalConfiguration.Durability) -> String {
        let time = wait.map { " for \($0.components.seconds) s" } ?? ""
        let finding = "The journal was not closed, because its disk has not answered\(time)."
        let isSynced = durability == .fsync
        guard events > 0 else {
            return finding
                + (isSynced
                    ? " Every acknowledged event is in it." : " Acknowledged events that were not synced may be lost.")
        }
        let count = events == 1 ? "1 event" : "\(events) events"
        return finding
            + " Whether the \(count) of the commit under way \(events == 1 ? "is" : "are") in it is unknown; "
            + (isSynced ? "every acknowledged event is." : "acknowledged events that were not synced may be lost.")
    }
}

extension Pipeline {
    /// What is unknown or lost if the process ends now without a shutdown, in one or two sentences.
    package var suddenEnd: String {
        guard let durability = journal?.store.configuration.durability else {
            let pending = statistics.trackers.filter { $0.pendingEvents > 0 }.map { "\($0.name): \($0.pendingEvents)" }
            return pending.isEmpty
                ? "No accepted event was left to be delivered."
                : "There is no journal, and accepted events that were not delivered are lost: "
                    + pending.joined(separator: ", ") + "."
        }
        if let hang = decide({ state, _ in state.unfinishedCommit(now: clock.now()) }) {
            return hang.sentence(durability)
        }
        return durability == .fsync
            ? "Every acknowledged event is in the journal."
            : "Every acknowledged event was written to the journal; the latest may not be synced, and a power failure "
                + "would lose them."
    }
}
