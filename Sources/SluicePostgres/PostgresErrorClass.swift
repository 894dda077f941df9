import TrackerKit

/// What a failure means for the events at hand: the one place that tells an outage from bad data, for `start` and
/// `deliver` alike.
package enum PostgresErrorClass: Sendable, Hashable {
    /// A row with this key is there already.
    case duplicate
    /// The server will never take the row.
    case refused
    /// The server cannot be reached, or asks to come again.
    case unavailable
    /// It did not answer in time.
    case timeout
    /// Somebody holds a lock on the table.
    case locked
    /// It lacks a table or a column.
    case notPrepared
    /// It does not let the role in, or not do what it has to.
    case misconfigured
    /// The settings cannot work, whatever the server says.
    case invalidSettings
    /// Another process has stored a checkpoint.
    case superseded
    /// We were told to stop waiting.
    case cancelled

    /// Classes a failure.
    package init(_ failure: PostgresFailure) {
        switch failure.source {
        case .interrupt: self = .cancelled
        case .waiting: self = .timeout
        case .settings: self = .invalidSettings
        case .pooler: self = .misconfigured
        case .superseded: self = .superseded
        case .server, .connection: self = failure.sqlState.map(Self.init(sqlState:)) ?? .unavailable
        }
    }

    /// Classes a SQLSTATE (PostgreSQL's manual, appendix A); one that is not known is an outage, because to try again does
    /// less harm than to throw away.
    package init(sqlState: String) {
        switch sqlState {
        case "23505": self = .duplicate
        case "57014": self = .timeout
        case "55P03": self = .locked
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

    /// Whether a statement for one table can fail in this way while those for other tables succeed: the table is missing,
    /// changed, locked or damaged, or the role has no privilege for it.
    package static func isOfTable(_ failure: PostgresFailure) -> Bool {
        guard failure.source == .server else { return false }
        return switch PostgresErrorClass(failure) {
        case .notPrepared, .misconfigured, .locked: true
        // Object not in the required state, an error of the system, an internal error such as a damaged index.
        case .unavailable: ["55", "58", "XX"].contains(failure.sqlState?.prefix(2))
        default: false
        }
    }
}

extension TrackerError {
    /// What a failure means to the pipeline; its description holds no value of a row.
    ///
    /// `table` is the one, quoted, whose statement failed; `nil` where it was none of a table.
    init(_ failure: PostgresFailure, table: String? = nil) {
        let state = failure.sqlState.map { " (SQLSTATE \($0))" } ?? ""
        // Our own sentence ends with a full stop; what is quoted in it should not.
        let words =
            failure.message.hasSuffix(".") || failure.message.hasSuffix("?")
            ? failure.message.dropLast() : failure.message[...]
        let said = (words.isEmpty ? "it does not say why" : words) + state
        let place = table.map { "The table \($0): " } ?? ""
        func error(_ code: Code, _ message: String, isRetryable: Bool) -> TrackerError {
            TrackerError(code: code, message: place + message, isRetryable: isRetryable, underlying: failure)
        }
        switch PostgresErrorClass(failure) {
        case .duplicate, .refused:
            // The server's words can hold the value it refused, so they are kept for `debugDescription`.
            self = error(.failed, "PostgreSQL refused rows\(state).", isRetryable: false)
        case .unavailable:
            let isKnown = failure.source == .connection || Self.outages.contains(failure.sqlState?.prefix(2) ?? "")
            let reason = isKnown ? said : "an error of an unexpected kind\(state)"
            // A single table that is damaged is no outage: the others are well.
            self =
                table != nil && PostgresErrorClass.isOfTable(failure)
                ? error(.failed, "PostgreSQL cannot use it: \(reason).", isRetryable: true)
                : error(.unavailable, "PostgreSQL is unavailable: \(reason).", isRetryable: true)
        case .timeout:
            self = error(.timeout, "PostgreSQL: \(said).", isRetryable: true)
        case .locked:
            self = error(.timeout, "PostgreSQL holds a lock for another session: \(said).", isRetryable: true)
        case .notPrepared:
            self = error(
                .notPrepared,
                "PostgreSQL lacks something that the plan needs: \(said); run `sluice migrate`.",
                isRetryable: false
            )
        case .misconfigured:
            self = error(
                .misconfigured,
                failure.source == .pooler ? "\(said)." : "PostgreSQL does not let the role in or work: \(said).",
                isRetryable: false
            )
        case .invalidSettings:
            self = error(.invalidSettings, "\(said).", isRetryable: false)
        case .superseded:
            self = error(
                .superseded,
                "PostgreSQL is written to by somebody else: \(said). Is a copy of this journal in use?",
                isRetryable: false
            )
        case .cancelled:
            self = error(.cancelled, "The delivery was cancelled.", isRetryable: true)
        }
    }

    /// Classes of SQLSTATE whose messages speak of the server, not of rows.
    private static let outages: Set<Substring> = ["08", "25", "40", "53", "55", "57", "58", "F0"]
}
