import EventPipeline

/// What a failure means for the events at hand: the one place that tells an outage from bad data.
package enum PostgresErrorClass: Sendable, Hashable {
    /// A row with this key is there already.
    case duplicate
    /// The server will never take the row.
    case refused
    /// The server is not to be had, or asks to come again.
    case unavailable
    /// It did not answer in time.
    case timeout
    /// It lacks a table or a column.
    case notPrepared
    /// The settings, or the rights of the user, are wrong.
    case misconfigured
    /// We were told to stop waiting.
    case cancelled

    /// Classes a failure.
    package init(_ failure: PostgresFailure) {
        switch failure.source {
        case .interrupt: self = .cancelled
        case .waiting: self = .timeout
        case .settings: self = .misconfigured
        case .server, .connection: self = failure.sqlState.map(Self.init(sqlState:)) ?? .unavailable
        }
    }

    /// Classes a SQLSTATE (PostgreSQL's manual, appendix A); one that is not known is an outage, because to try again does
    /// less harm than to throw away.
    package init(sqlState: String) {
        switch sqlState {
        case "23505": self = .duplicate
        case "57014": self = .timeout
        case "42P01", "42703", "42804", "42P10", "3F000": self = .notPrepared
        default:
            switch sqlState.prefix(2) {
            // Data, constraints, check options, errors raised by triggers and functions, and the limits of a row.
            case "22", "23", "44", "P0", "38", "39", "54": self = .refused
            case "28", "3D", "42", "0A": self = .misconfigured
            default: self = .unavailable
            }
        }
    }
}

extension TrackerError {
    /// What a failure means to the pipeline; its description holds no value of a row.
    init(_ failure: PostgresFailure) {
        let state = failure.sqlState.map { " (SQLSTATE \($0))" } ?? ""
        // Our own sentence ends with a full stop; what is quoted in it should not.
        let words =
            failure.message.hasSuffix(".") || failure.message.hasSuffix("?")
            ? failure.message.dropLast() : failure.message[...]
        let said = words.isEmpty ? "it does not say why" : words
        switch PostgresErrorClass(failure) {
        case .duplicate, .refused:
            // The server's words can hold the value it refused, so they are kept for `debugDescription`.
            self.init(
                code: .failed,
                message: "PostgreSQL refused rows\(state).",
                isRetryable: false,
                underlying: failure
            )
        case .unavailable:
            let isKnown = failure.source == .connection || Self.outages.contains(failure.sqlState?.prefix(2) ?? "")
            self.init(
                code: .unavailable,
                message: "PostgreSQL is not to be had: \(isKnown ? said : "an error of an unexpected kind")\(state).",
                isRetryable: true,
                underlying: failure
            )
        case .timeout:
            self.init(code: .timeout, message: "PostgreSQL: \(said)\(state).", isRetryable: true, underlying: failure)
        case .notPrepared:
            self.init(
                code: .notPrepared,
                message: "PostgreSQL lacks something that the plan needs: \(said)\(state); run `sluice migrate`.",
                isRetryable: false,
                underlying: failure
            )
        case .misconfigured:
            let isOurs = failure.source == .settings
            self.init(
                code: .misconfigured,
                message: isOurs ? "\(said)." : "PostgreSQL does not let us in or work: \(said)\(state).",
                isRetryable: false,
                underlying: failure
            )
        case .cancelled:
            self.init(code: .cancelled, message: "The delivery was cancelled.", isRetryable: true, underlying: failure)
        }
    }

    /// Classes of SQLSTATE whose messages speak of the server, not of rows.
    private static let outages: Set<Substring> = ["08", "25", "40", "53", "55", "57", "58", "F0"]
}
