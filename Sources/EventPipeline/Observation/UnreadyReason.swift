/// Why a pipeline is not ready to accept events.
///
/// `description` is a stable code in kebab-case. It contains no names of hosts or trackers, so it can be shown to anybody.
public struct UnreadyReason: Sendable, Hashable, CustomStringConvertible {
    /// The code.
    public let description: String

    /// `run` has not been called yet.
    public static let notRunning = UnreadyReason(description: "not-running")
    /// The pipeline is shutting down or has shut down.
    public static let shuttingDown = UnreadyReason(description: "shutting-down")
    /// An operator has stopped the intake of events; see `Pipeline.acceptsEvents`.
    public static let intakeClosed = UnreadyReason(description: "intake-closed")
    /// The journal could not be written when it was last tried.
    public static let journalUnwritable = UnreadyReason(description: "journal-unwritable")
    /// The journal has reached its limit, or the disk its minimum of free space.
    public static let journalFull = UnreadyReason(description: "journal-full")
    /// The journal's disk has not answered for longer than `Configuration.commitOverdueAfter`.
    public static let commitOverdue = UnreadyReason(description: "commit-overdue")
    /// A queue with the policy `wait` is full.
    public static let queuesFull = UnreadyReason(description: "queues-full")
}
