/// Sums up a failure that repeats, for the log: the first time is logged at once, further ones once a minute as a number, and
/// the end with its duration.
///
/// A failure that returns within ten seconds of its recovery is not logged until they are over, so one that comes and goes does not
/// fill the log either. Things that happen without an end, such as lost events, are counted in the same way.
package struct FailureEpisode: Sendable, Hashable {
    /// What a line of the log reports.
    package struct Summary: Sendable, Hashable {
        /// How many failures there were since the last line; with the end of an episode, in the whole episode.
        package let count: Int
        /// The time since the first failure of the episode.
        package let duration: Duration
    }

    /// The time between two lines about the same failure.
    package static let pause = Duration.seconds(60)
    /// The time after a recovery during which a failure that returns is not logged.
    package static let pauseAfterEnd = Duration.seconds(10)
    /// How many reasons of one episode are logged at once.
    private static let maximumReasons = 8

    private var began: Duration?
    private var count = 0
    private var unreported = 0
    private var silentUntil: Duration?
    /// The reasons that were logged since the episode began; empty if none was.
    private var reasons: [String] = []

    package init() {}

    /// Whether it has failed and not ended.
    package var isFailing: Bool { began != nil }

    /// Counts failures; returns what to log now, if anything.
    ///
    /// Once an episode is logged, failures for a new reason are logged at once, up to `maximumReasons` reasons. `start` is when the
    /// first failure of the episode began, if that was before `now`.
    package mutating func failed(
        _ failures: Int = 1,
        because reason: String = "",
        since start: Duration? = nil,
        now: Duration
    ) -> Summary? {
        let began = self.began ?? start ?? now
        self.began = began
        count += failures
        unreported += failures
        let isNews = !reasons.isEmpty && reasons.count < Self.maximumReasons && !reasons.contains(reason)
        if let silentUntil, now < silentUntil, !isNews { return nil }
        if reasons.count < Self.maximumReasons, !reasons.contains(reason) { reasons.append(reason) }
        silentUntil = now + Self.pause
        defer { unreported = 0 }
        return Summary(count: unreported, duration: now - began)
    }

    /// Ends the episode; returns what to log, if its failures were logged.
    package mutating func ended(now: Duration) -> Summary? {
        guard let began else { return nil }
        defer {
            self.began = nil
            count = 0
            reasons = []
        }
        guard !reasons.isEmpty else { return nil }
        unreported = 0
        silentUntil = now + Self.pauseAfterEnd
        return Summary(count: count, duration: now - began)
    }
}

extension Duration {
    /// The seconds as they are logged, to the millisecond.
    package var loggedSeconds: Double { (self / .milliseconds(1)).rounded() / 1000 }
}
