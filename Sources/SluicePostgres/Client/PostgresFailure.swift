/// Why a call to the server failed.
package struct PostgresFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where the failure was detected.
    package enum Source: Sendable, Hashable {
        /// The server, with a SQLSTATE.
        case server
        /// libpq: the connection could not be made, or was lost.
        case connection
        /// The settings of the connection are invalid.
        case settings
        /// The connection goes through a pooler that gives each transaction another session.
        case pooler
        /// The stored checkpoint is not the one that this session knows.
        case superseded
        /// The timeout has passed.
        case waiting
        /// The task was cancelled.
        case interrupt
    }

    package let source: Source
    /// The five characters of the SQLSTATE; `nil` if the failure is not the server's.
    package let sqlState: String?
    /// The message without its detail, though the server's message itself can contain a value of a row.
    package let message: String
    /// Whether a function of the database failed, such as that of a trigger; then the message can contain any value of a row.
    package let isOfFunction: Bool
    /// The constraint that a row violates; `nil` if the failure is not about one.
    package let constraint: String?
    /// The server's detail, hint and context; they can contain a whole row, so show them only in `debugDescription`.
    package let detail: String?

    package init(
        source: Source,
        sqlState: String? = nil,
        message: String,
        isOfFunction: Bool = false,
        constraint: String? = nil,
        detail: String? = nil
    ) {
        self.source = source
        self.sqlState = sqlState
        self.message = message
        self.isOfFunction = isOfFunction
        self.constraint = constraint
        self.detail = detail
    }

    package static let interrupted = PostgresFailure(source: .interrupt, message: "The call was cancelled.")
    package static let timedOut = PostgresFailure(source: .waiting, message: "The server did not answer in time.")

    /// The message for logs; `nil` if it can contain a value of a row, or says nothing.
    ///
    /// The messages of the server's own code contain values only if data are the reason (class 22), and are otherwise about the
    /// server, a name or a privilege.
    package var publicMessage: String? {
        isOfFunction || message.isEmpty || sqlState?.hasPrefix("22") == true ? nil : message
    }

    /// Whether a partitioned table has no partition for a row, which has the code of a violated constraint, but no constraint.
    package var isOfMissingPartition: Bool { sqlState == "23514" && constraint == nil && !isOfFunction }

    /// Everything known, for debugging; it can contain values of a row.
    package var description: String {
        [sqlState, message, detail].compactMap { $0 }.joined(separator: ": ")
    }
}

/// libpq's message about a failed connection, with the SQLSTATE separated from it.
///
/// A refused connection has no result, but with verbose messages libpq puts the server's code into the text:
/// `connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  28P01: password authentication failed …`.
package struct ConnectionMessage {
    /// The SQLSTATE; `nil` if the text contains none.
    package let sqlState: String?
    /// The message on one line, without the code and the location in the server's source.
    package let text: String

    package init(_ raw: String) {
        let lines = raw.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
        let joined = lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: " ")
        var words = joined.split(separator: " ")
        let place = words.indices.dropFirst().first { index in
            words[index - 1].hasSuffix(":") && Self.isCode(words[index])
        }
        sqlState = place.map { String(words[$0].dropLast()) }
        if let place { words.remove(at: place) }
        text = words.joined(separator: " ")
    }

    private static func isCode(_ word: Substring) -> Bool {
        word.utf8.count == 6 && word.hasSuffix(":")
            && word.utf8.dropLast().allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
            }
            && word.utf8.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}
