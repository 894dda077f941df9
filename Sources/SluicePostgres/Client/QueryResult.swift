import CLibPQ

/// A result of the server, which is freed when it goes out of scope.
struct QueryResult: ~Copyable {
    private let handle: OpaquePointer

    /// Takes ownership of a result that `PQgetResult` returned.
    init(adopting handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        PQclear(handle)
    }

    var status: ExecStatusType { PQresultStatus(handle) }

    /// Returns all rows as text, with `nil` for NULL.
    func rows() -> [[String?]] {
        let columns = PQnfields(handle)
        return (0..<PQntuples(handle)).map { row in
            (0..<columns).map { column in
                guard PQgetisnull(handle, row, column) == 0, let text = PQgetvalue(handle, row, column) else {
                    return nil
                }
                return String(cString: text)
            }
        }
    }

    /// The number of rows that the statement affected; 0 if the server does not report it.
    var affectedRows: Int {
        PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The error, if this result is one.
    var failure: PostgresFailure? {
        guard status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE else { return nil }
        let details = [Field.detail, .hint, .context].compactMap { text(of: $0) }
        guard let state = text(of: .sqlState) else {
            // If the connection breaks, libpq creates a result of its own, which has no SQLSTATE.
            let message = PQresultErrorMessage(handle).map { String(cString: $0) } ?? ""
            return PostgresFailure(source: .connection, message: ConnectionMessage(message).text)
        }
        return PostgresFailure(
            source: .server,
            sqlState: state,
            message: text(of: .primaryMessage) ?? "",
            isOfFunction: Self.isOfFunction(text(of: .context)),
            constraint: text(of: .constraint),
            detail: details.isEmpty ? nil : details.joined(separator: " ")
        )
    }

    /// The codes of libpq's PG_DIAG_ macros.
    private enum Field: Character {
        case sqlState = "C"
        case primaryMessage = "M"
        case detail = "D"
        case hint = "H"
        case context = "W"
        case constraint = "n"
    }

    /// Whether an error's context names a function; the only other one that our statements have is the line of a `COPY`.
    private static func isOfFunction(_ context: String?) -> Bool {
        context?.split(whereSeparator: \.isNewline).contains { !$0.hasPrefix("COPY ") } ?? false
    }

    private func text(of field: Field) -> String? {
        guard let code = field.rawValue.asciiValue else { return nil }
        return PQresultErrorField(handle, Int32(code)).map { String(cString: $0) }
    }
}
