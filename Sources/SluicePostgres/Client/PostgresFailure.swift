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

/// What libpq says when a connection cannot be made, with the SQLSTATE taken out of it.
///
/// A refused start-up has no result to ask; but with verbose messages libpq writes the server's code into the text:
/// `connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  28P01: password authentication failed …`.
package struct ConnectionMessage {
    /// The code, where the server gave one.
    package let sqlState: String?
    /// The message on one line, without the code and the place in the server's source.
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
