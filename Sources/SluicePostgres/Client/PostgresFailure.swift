/// Why a call to the server did not succeed.
package struct PostgresFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Who says so.
    package enum Source: Sendable, Hashable {
        /// The server, with a SQLSTATE.
        case server
        /// libpq: there is no connection, or no longer.
        case connection
        /// The connection's settings cannot be read.
        case settings
        /// The connection goes through a pooler that gives each transaction another session.
        case pooler
        /// The stored checkpoint is not the one that this session knows of.
        case superseded
        /// We did not want to wait any longer.
        case waiting
        /// The task was cancelled.
        case interrupt
    }

    package let source: Source
    /// The five characters of the SQLSTATE; `nil` where the failure is not the server's.
    package let sqlState: String?
    /// The message without its detail; the server's own words can hold a value of a row.
    package let message: String
    /// The server's detail, hint and context; can hold a whole row, so only for `debugDescription`.
    package let detail: String?

    package init(source: Source, sqlState: String? = nil, message: String, detail: String? = nil) {
        self.source = source
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
    }

    package static let interrupted = PostgresFailure(source: .interrupt, message: "The call was cancelled.")
    package static let timedOut = PostgresFailure(source: .waiting, message: "The server did not answer in time.")

    /// Everything known, for debugging: it can hold values of a row.
    package var description: String {
        [sqlState, message, detail].compactMap { $0 }.joined(separator: ": ")
    }
}
