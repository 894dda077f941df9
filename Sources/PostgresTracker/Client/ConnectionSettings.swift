import CLibPQ

/// Where a server is and how to reach it: a libpq URI or keywords, read by libpq itself.
struct ConnectionSettings: Sendable {
    /// How long to wait for a connection where the settings do not say.
    static let defaultConnectTimeout = Duration.seconds(10)

    /// Keywords and values for `PQconnectStartParams`; later ones win.
    let parameters: [(keyword: String, value: String)]
    /// How long one attempt to connect may take, over all addresses.
    let connectTimeout: Duration

    /// Reads a libpq URI (`postgres://…`) or keywords (`host=… dbname=…`); an empty text means libpq's defaults.
    ///
    /// - Throws: a failure of source `settings`, whose message never repeats the text: it can hold a password.
    init(_ text: String) throws(PostgresFailure) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            let detail = message.map { String(cString: $0) }
            PQfreemem(message)
            throw PostgresFailure(
                source: .settings,
                message: "The connection string is neither a libpq URI nor a list of libpq keywords.",
                detail: detail
            )
        }
        defer { PQconninfoFree(options) }

        // Found here because libpq leaves the timeout of a connection made step by step to its caller.
        var stated = Self.environmentTimeout
        var option = options
        while let keyword = option.pointee.keyword {
            if String(cString: keyword) == "connect_timeout", let value = option.pointee.val {
                stated = String(cString: value)
            }
            option += 1
        }
        // As in libpq: zero or less means forever, and less than two seconds is not supported.
        connectTimeout =
            stated.flatMap { Int64($0) }.map { $0 <= 0 ? .seconds(86_400) : .seconds(min(max(2, $0), 86_400)) }
            ?? Self.defaultConnectTimeout
        parameters = Self.fallbacks + [("dbname", text)] + Self.fixed
    }

    /// What `PGCONNECT_TIMEOUT` says, which is libpq's own default for the keyword.
    private static var environmentTimeout: String? {
        guard let defaults = PQconndefaults() else { return nil }
        defer { PQconninfoFree(defaults) }
        var option = defaults
        while let keyword = option.pointee.keyword {
            if String(cString: keyword) == "connect_timeout" {
                return option.pointee.val.map { String(cString: $0) }
            }
            option += 1
        }
        return nil
    }

    /// What holds unless the text says otherwise: a peer that is gone is noticed within a minute.
    private static let fallbacks = [
        ("fallback_application_name", "sluice"),
        ("keepalives_idle", "20"),
        ("keepalives_interval", "10"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "60000"),
    ]

    /// What must hold for the rows to be read as they are written.
    private static let fixed = [("client_encoding", "UTF8")]
}
