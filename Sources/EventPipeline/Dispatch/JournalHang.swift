import Journal

/// What a journal's disk had not done when its pipeline ended.
package struct JournalHang: Sendable, Hashable, CustomStringConvertible {
    /// How long the disk had not answered; `nil` where it worked on something until the end.
    package let wait: Duration?
    /// The events of the commit that was being written.
    package let events: Int

    /// What is unknown, in one sentence or two.
    package var description: String {
        let time = wait.map { " for \($0.components.seconds) s" } ?? ""
        let finding = "The journal was not closed, because its disk has not answered\(time)."
        guard events > 0 else { return finding + " Every acknowledged event is in it." }
        return finding
            + " Whether the \(events) events of the commit under way are in it is unknown; every acknowledged event is."
    }
}

extension JournalError {
    /// The journal's disk has not answered for so long.
    static func overdue(for wait: Duration) -> JournalError {
        JournalError(.overdue, "The journal's disk has not answered for \(wait.components.seconds) s.")
    }
}
