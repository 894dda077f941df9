/// Decides how long to wait until the receiver's kernel has acknowledged everything that was sent.
///
/// The kernel of this machine tells only if it is asked, so it is asked again and again.
package struct AcknowledgementWait {
    /// What to do next.
    package enum Step: Hashable {
        /// Everything is acknowledged.
        case acknowledged
        /// Ask again at this time.
        case ask(at: Duration)
        /// For the limit, nothing more was acknowledged.
        case timeout
    }

    /// The first pause; an acknowledgement on the same machine arrives within it.
    package static let firstPause = Duration.milliseconds(1)
    /// Pauses double up to this one; a receiver may delay an acknowledgement by 40 ms, or by much more if it does not read.
    package static let longestPause = Duration.milliseconds(64)

    private let limit: Duration
    private var pause = Self.firstPause
    private var unacknowledged = Int.max
    /// When the wait fails unless something is acknowledged before.
    private var deadline = Duration.zero

    /// Begins a wait that fails once nothing has been acknowledged for `limit`.
    package init(limit: Duration) {
        self.limit = limit
    }

    /// Takes the number of bytes that are not acknowledged now.
    package mutating func next(unacknowledged count: Int, now: Duration) -> Step {
        if count == 0 { return .acknowledged }
        if count < unacknowledged {
            unacknowledged = count
            deadline = now + limit
        }
        guard now < deadline else { return .timeout }
        defer { pause = min(pause * 2, Self.longestPause) }
        return .ask(at: min(now + pause, deadline))
    }
}
