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
            if let value = option.pointee.val {
                let (keyword, value) = (String(cString: keyword), String(cString: value))
                try Self.check(keyword, value)
                if keyword == "connect_timeout" { stated = value }
            }
            option += 1
        }
        // As in libpq: zero or less means forever, and less than two seconds is not supported.
        connectTimeout =
            stated.flatMap { Int64($0) }.map { $0 <= 0 ? .seconds(86_400) : .seconds(min(max(2, $0), 86_400)) }
            ?? Self.defaultConnectTimeout
        parameters = Self.fallbacks + [("dbname", text)] + Self.fixed
    }

    /// Refuses values that libpq would refuse only when it connects, and whose keyword is no secret.
    private static func check(_ keyword: String, _ value: String) throws(PostgresFailure) {
        let expected: String
        switch keyword {
        case "port":
            // One for each host; an empty one means the default.
            let ports = value.split(separator: ",", omittingEmptySubsequences: false)
            if ports.allSatisfy({ $0.isEmpty || Int($0).map((1...65_535).contains) == true }) { return }
            expected = "a number from 1 to 65535"
        case "connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout":
            if Int32(value) != nil { return }
            expected = "a whole number"
        case "sslmode":
            let modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
            if modes.contains(value) { return }
            expected = "one of \(modes.joined(separator: ", "))"
        default:
            return
        }
        throw PostgresFailure(
            source: .settings,
            message: "The connection string's '\(keyword)' is not \(expected)."
        )
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

    /// The same for the server's end of the connection, as statements of the session.
    ///
    /// A backend that reads rows from a network that has gone silent is ended by nothing else: no timeout of a
    /// statement or a transaction counts while it waits for `COPY` data. On a Unix socket they have no effect.
    static let serverKeepalives = """
        SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = 60000
        """
}
