import CLibPQ

/// The address of a server and how to connect to it: a libpq URI or keywords, parsed by libpq itself.
struct ConnectionSettings: Sendable {
    /// Keywords and values for `PQconnectStartParams`; if a keyword occurs twice, the later value wins.
    let parameters: [(keyword: String, value: String)]
    /// The timeout of one attempt to connect, over all addresses.
    let connectTimeout: Duration

    /// Parses a libpq URI (`postgres://…`) or keywords (`host=… dbname=…`); an empty string means libpq's defaults.
    ///
    /// - Throws: A failure of source `settings`, whose message never contains the text, because it can hold a password.
    init(_ configuration: PostgresConfiguration) throws(PostgresFailure) {
        let text = configuration.connection
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

        // libpq leaves the timeout to its caller if the caller connects step by step, so read it here.
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
        // As in libpq: zero or less means no timeout, and less than two seconds is not supported.
        connectTimeout =
            stated.flatMap { Int64($0) }.map { $0 <= 0 ? .seconds(86_400) : .seconds(min(max(2, $0), 86_400)) }
            ?? configuration.connectTimeout
        let password = configuration.password.map { [("password", $0)] } ?? []
        parameters = Self.fallbacks + [("dbname", text)] + password + Self.fixed
    }

    /// Rejects invalid values that libpq would detect only when it connects, of keywords that are not secret.
    private static func check(_ keyword: String, _ value: String) throws(PostgresFailure) {
        let expected: String
        switch keyword {
        case "port":
            // There is one port for each host; an empty one means the default.
            let ports = value.split(separator: ",", omittingEmptySubsequences: false)
            if ports.allSatisfy({ $0.isEmpty || Int($0).map((1...65_535).contains) == true }) { return }
            expected = "a number from 1 to 65535"
        case "host", "hostaddr":
            // Part of a password, which libpq would print when it cannot find such a host; a leading '@' is an abstract socket.
            if value.split(separator: ",").allSatisfy({ !$0.dropFirst().contains("@") }) { return }
            throw PostgresFailure(
                source: .settings,
                message: "In the connection string, an '@' of the user or the password has to be written as %40."
            )
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

    /// The value of `PGCONNECT_TIMEOUT`, libpq's default for the keyword.
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

    /// The defaults: keepalives detect within a minute that the peer is gone.
    private static let fallbacks = [
        ("fallback_application_name", "sluice"),
        ("keepalives_idle", "20"),
        ("keepalives_interval", "10"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "60000"),
    ]

    /// Settings that the connection string cannot change, because rows are encoded for them.
    private static let fixed = [("client_encoding", "UTF8")]

    /// Keepalives for the server's end of the connection, as statements of the session.
    ///
    /// Nothing else ends a backend that reads rows from a network that went silent: while it waits for `COPY` data, no
    /// timeout of a statement or transaction applies. On a Unix socket these settings have no effect.
    static let serverKeepalives = """
        SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = 60000
        """
}
