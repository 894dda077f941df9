/// Why a pipeline takes no events at this moment.
///
/// `description` is a stable code in kebab-case, which names no host and no tracker: it may be shown to anybody.
public struct UnreadyReason: Sendable, Hashable, CustomStringConvertible {
    /// The code.
    public let description: String

    /// `run` was not called yet.
    public static let notRunning = UnreadyReason(description: "not-running")
    /// The pipeline is shutting down, or has run.
    public static let shuttingDown = UnreadyReason(description: "shutting-down")
    /// The journal could not be written when it was last tried.
    public static let journalUnwritable = UnreadyReason(description: "journal-unwritable")
    /// The journal has reached its limit, or the disk its floor.
    public static let journalFull = UnreadyReason(description: "journal-full")
    /// The journal's disk has not answered for longer than `Configuration.commitOverdueAfter`.
    public static let commitOverdue = UnreadyReason(description: "commit-overdue")
    /// A queue for which senders wait is full.
    public static let queuesFull = UnreadyReason(description: "queues-full")
}
