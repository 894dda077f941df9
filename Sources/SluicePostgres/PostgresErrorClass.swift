package import TrackerKit

/// What a failure says about its cause, for the operator.
///
/// `DeliveryLoader` finds out whose fault a failed load is, from what else the server accepts.
package enum PostgresErrorClass: Sendable, Hashable {
    /// A row with this key already exists.
    case duplicate
    /// The server will never accept the row.
    case refused
    /// The server is unreachable, or asked us to retry.
    case unavailable
    /// The server did not answer in time.
    case timeout
    /// Another session holds a lock on the table.
    case locked
    /// The database lacks a table or a column.
    case notPrepared
    /// The role may not connect, or lacks a privilege.
    case misconfigured
    /// The settings are invalid, independently of the server.
    case invalidSettings
    /// Another process stored a checkpoint, or claimed a partition.
    case superseded
    /// The call was cancelled.
    case cancelled

    /// The SQLSTATE that `OffsetTable` raises if the stored position or epoch of a partition is another one.
    static let supersededState = "SLU01"
    static let supersededMessage = "another position or epoch is stored for the partition"

    /// Classifies a failure.
    package init(_ failure: PostgresFailure) {
        switch failure.source {
        case .interrupt: self = .cancelled
        case .waiting: self = .timeout
        case .settings: self = .invalidSettings
        case .pooler: self = .misconfigured
        case .superseded: self = .superseded
        // A trigger of the user's can raise any code.
        case .server where failure.sqlState == Self.supersededState && failure.message == Self.supersededMessage:
            self = .superseded
        case .server, .connection: self = failure.sqlState.map(Self.init(sqlState:)) ?? .unavailable
        }
    }

    /// Classifies a SQLSTATE (PostgreSQL's manual, appendix A).
    ///
    /// An unknown one counts as an outage where nothing else is known, because a retry does less harm than a lost event.
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

    /// Whether the cause may pass by itself, so that a row that fails alone is retried before it is set aside.
    static func mayPass(_ failure: PostgresFailure) -> Bool {
        switch PostgresErrorClass(failure) {
        case .locked, .timeout: true
        // An unknown code is that of a trigger, and concerns the row.
        case .unavailable: TrackerError.outages.contains(failure.sqlState?.prefix(2) ?? "08")
        default: false
        }
    }
}

extension PostgresFailure: CodedFailure {
    package var failureCode: String? { sqlState }
}

extension TrackerError {
    /// Creates the error for the pipeline; its description contains no value of a row.
    ///
    /// `table` is the quoted name of the table whose statement failed, or `nil` if the statement was for no single
    /// table.
    init(_ failure: PostgresFailure, table: String? = nil) {
        let state = failure.sqlState.map { " (SQLSTATE \($0))" } ?? ""
        let substitute = failure.isOfFunction ? "a function of the database failed" : "it does not say why"
        let message = failure.publicMessage ?? substitute
        // The message is quoted inside a sentence, so its own full stop is removed.
        let said = (message.hasSuffix(".") || message.hasSuffix("?") ? message.dropLast() : message[...]) + state
        let place = table.map { "The table \($0): " } ?? ""
        func error(_ code: Code, _ message: String, isRetryable: Bool) -> TrackerError {
            TrackerError(code: code, message: place + message, isRetryable: isRetryable, underlying: failure)
        }
        switch PostgresErrorClass(failure) {
        case _ where failure.isOfMissingPartition:
            self = error(
                .noPartition,
                "PostgreSQL has no partition for the times of some events; create the partition.",
                isRetryable: false
            )
        case .duplicate, .refused:
            // The server's message can contain the rejected value, so it is only in `debugDescription`.
            self = error(.failed, "PostgreSQL refused rows\(state).", isRetryable: false)
        case .unavailable:
            let isKnown = failure.source == .connection || Self.outages.contains(failure.sqlState?.prefix(2) ?? "")
            let reason = isKnown ? said : "an error of an unexpected kind\(state)"
            // A single damaged table is not an outage, because the others work.
            self =
                table != nil
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
                failure.source == .pooler ? "\(said)." : "\(failure.refusal): \(said).",
                isRetryable: false
            )
        case .invalidSettings:
            self = error(.invalidSettings, "\(said).", isRetryable: false)
        case .superseded:
            self = error(
                .superseded,
                "PostgreSQL is written to by another process: \(said). Is a copy of this journal in use?",
                isRetryable: false
            )
        case .cancelled:
            self = .cancelled
        }
    }

    /// SQLSTATE classes whose messages are about the server and not about rows.
    fileprivate static let outages: Set<Substring> = ["08", "25", "40", "53", "55", "57", "58", "72", "F0", "XX"]
}

extension TrackerError.Code {
    /// A partitioned table has no partition for an event.
    package static let noPartition = Self("no-partition")
}

extension PostgresFailure {
    /// What the server refuses, for the error of the class `misconfigured`.
    fileprivate var refusal: String {
        switch sqlState?.prefix(2) {
        case "28", "3D": "PostgreSQL rejects the login"
        // A standby answers with this, for example.
        case "0A": "PostgreSQL does not support this here"
        default: sqlState == "42501" ? "PostgreSQL denies the role a privilege" : "PostgreSQL rejects a statement"
        }
    }
}
