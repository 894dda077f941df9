import Logging

/// Logs which tables the refused rows were for, and with which SQLSTATE; the server's message, which can contain values, is only in
/// the quarantine.
struct RefusalLog {
    /// What refused rows have in common.
    struct Kind: Hashable {
        /// The table, quoted.
        let table: String
        let sqlState: String
    }

    /// The time between two lines about the same kind.
    private static let pause = Duration.seconds(60)
    /// The maximum number of kinds that are remembered; further ones share one line.
    private static let maximumKinds = 100
    private static let others = Kind(table: "others", sqlState: "others")

    private var silentUntil: [Kind: ContinuousClock.Instant] = [:]
    private var unreported: [Kind: Int] = [:]

    /// Counts refused rows, and logs each kind at once and then at most once a minute.
    mutating func note(_ refusals: [Kind: Int], tracker: String, to logger: Logger, now: ContinuousClock.Instant = .now)
    {
        for (kind, count) in refusals {
            let isKnown = unreported[kind] != nil || unreported.count < Self.maximumKinds
            let kind = isKnown ? kind : Self.others
            unreported[kind, default: 0] += count
            if let end = silentUntil[kind], now < end { continue }
            silentUntil[kind] = now + Self.pause
            logger.warning(
                "PostgreSQL refused rows.",
                metadata: [
                    "tracker": "\(tracker)", "table": "\(kind.table)", "sqlState": "\(kind.sqlState)",
                    "events": "\(unreported.updateValue(0, forKey: kind) ?? 0)",
                ]
            )
        }
    }
}
