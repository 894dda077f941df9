import NIOCore

/// The deadline of a connection's current activity.
///
/// Setting a timer costs more than handling a request, so a later deadline does not reset it: when the timer fires, it is set
/// again if the deadline has moved. Only an earlier deadline resets it at once.
package struct ConnectionClock {
    /// What a deadline limits.
    package enum Activity: CaseIterable, Sendable {
        /// Nothing, before the connection is open.
        case none
        /// Waiting for a request.
        case idle
        /// Receiving a header.
        case head
        /// Receiving a body.
        case body
        /// Inflating and checking a body, in turns.
        case check
        /// Waiting for the pipeline.
        case wait
        /// Sending a response.
        case respond
        /// Waiting for the sender to close.
        case linger
    }

    /// What the deadline is for.
    private(set) var activity = Activity.none
    private var request: UInt64 = 0
    /// The latest end of the activity, however often its deadline moves.
    private var end = NIODeadline.distantFuture
    private var deadline = NIODeadline.distantFuture
    private var timerDeadline = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?

    /// Sets the deadline, unless it is already set for this activity of this request; while a body is received, each piece of it
    /// moves the deadline, up to the limit for the whole body.
    mutating func begin(
        _ activity: Activity,
        of request: UInt64,
        timeouts: IngestContext.Timeouts,
        for handler: ConnectionHandler
    ) {
        let isNew = activity != self.activity || request != self.request
        guard isNew || activity == .body else { return }
        let now = NIODeadline.now()
        if isNew {
            self.activity = activity
            self.request = request
            end = now + Self.timeout(of: activity, in: timeouts)
        }
        deadline = activity == .body ? min(end, now + timeouts.bodyPause) : end
        setTimer(for: handler)
    }

    /// Makes the next `begin` set a new deadline, even for the same activity.
    mutating func restart() {
        activity = .none
    }

    /// Checks the deadline after the timer fired.
    ///
    /// - Returns: What has taken too long; `nil` if the deadline has not passed. If it has, the next `begin` sets another.
    mutating func timerFired(for handler: ConnectionHandler) -> Activity? {
        timer = nil
        timerDeadline = .distantFuture
        if NIODeadline.now() >= deadline {
            deadline = .distantFuture
            return activity
        }
        setTimer(for: handler)
        return nil
    }

    /// Cancels the timer.
    mutating func stop() {
        timer?.cancel()
        timer = nil
    }

    private mutating func setTimer(for handler: ConnectionHandler) {
        guard deadline < timerDeadline, let eventLoop = handler.eventLoop else { return }
        timer?.cancel()
        timerDeadline = deadline
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { handler.timerFired() }
    }

    private static func timeout(of activity: Activity, in timeouts: IngestContext.Timeouts) -> TimeAmount {
        switch activity {
        case .none, .idle: timeouts.idle
        case .head: timeouts.head
        case .body: timeouts.body
        case .check: timeouts.check
        case .wait: timeouts.wait
        case .respond: timeouts.answer
        case .linger: timeouts.linger
        }
    }
}
