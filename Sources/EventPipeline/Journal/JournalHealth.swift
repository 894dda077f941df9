import EventJournal
import EventModel

/// What the pipeline knows about its journal's disk: whether it can be written, has room, and answers.
package struct JournalHealth: Sendable {
    /// What to log about a disk that does not answer.
    enum OverdueNotice: Sendable, Equatable {
        case overdue(for: Duration)
        /// It answers again, after this time.
        case over(after: Duration)
    }

    /// How long the disk may take over one operation.
    private let overdueAfter: Duration
    /// Whether the journal could be written when it was last tried.
    var isWritable = true
    /// The size of the commit for which the journal had no room; `nil` if it had room, or may have some again.
    var bytesWithoutRoom: Int?
    /// When the operation began on which the disk works; `nil` while it is idle.
    private var busySince: Duration?
    /// The disk does not answer.
    private var overdue = FailureEpisode()

    init(overdueAfter: Duration) {
        self.overdueAfter = overdueAfter
    }

    /// The journal's thread begins to wait for the disk.
    package mutating func diskBegan(now: Duration) {
        busySince = now
    }

    /// The disk has answered.
    package mutating func diskEnded() {
        busySince = nil
    }

    /// Notes how a commit ended; `bytes` is its size.
    mutating func commitEnded(_ error: JournalError?, bytes: () -> Int) {
        busySince = nil
        isWritable = error?.code != .unwritable
        bytesWithoutRoom = error?.code == .full ? bytes() : nil
    }

    /// Why the journal would not accept a batch, judging by its last commit.
    var failure: JournalError? {
        if !isWritable { return .unwritable }
        return bytesWithoutRoom == nil ? nil : .full
    }

    /// How long the current operation has taken; `nil` while the disk is idle.
    func wait(now: Duration) -> Duration? { busySince.map { now - $0 } }

    /// How long the disk has not answered, if that is longer than an operation may take.
    func overdueWait(now: () -> Duration) -> Duration? {
        guard let busySince else { return nil }
        let wait = now() - busySince
        return wait >= overdueAfter ? wait : nil
    }

    /// What to log now about the disk that does not answer, or that answers again.
    mutating func overdueNotice(now: Duration) -> OverdueNotice? {
        guard let wait = overdueWait(now: { now }) else {
            return overdue.ended(now: now).map { .over(after: $0.duration) }
        }
        return overdue.failed(since: now - wait, now: now).map { _ in .overdue(for: wait) }
    }
}

extension JournalError {
    /// The last commit could not be written.
    static let unwritable = JournalError(.unwritable, "The journal could not be written when it was last tried.")
    /// The last commit found no room.
    static let full = JournalError(.full, "The journal had no room when it was last tried.")

    /// The journal's disk has not answered for this time.
    static func overdue(for wait: Duration) -> JournalError {
        JournalError(.overdue, "The journal's disk has not answered for \(wait.components.seconds) s.")
    }
}
