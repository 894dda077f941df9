/// Where the private port listens, and who may use it.
public struct OperationsConfiguration: Sendable {
    /// The least number of bytes of a token.
    public static let minimumTokenBytes = 16

    /// The address to listen on: a name or a numeric address.
    ///
    /// Default: `127.0.0.1`. An address that other machines can reach needs a token.
    public var host: String
    /// The port.
    ///
    /// Default: 8081. With 0 the system chooses one.
    public var port: Int
    /// The secret that lets somebody in; `nil` if everyone on this machine may use the port.
    ///
    /// Default: `nil`. It has at least 16 bytes.
    public var token: String?
    /// The maximum number of connections; further ones wait until one is closed.
    ///
    /// Default: 64.
    public var maximumConnections: Int
    /// How long somebody stays logged in.
    ///
    /// Default: 12 hours.
    public var sessionDuration: Duration

    /// Uses the defaults for all arguments that are not passed.
    public init(
        host: String = "127.0.0.1",
        port: Int = 8081,
        token: String? = nil,
        maximumConnections: Int = 64,
        sessionDuration: Duration = .seconds(12 * 3600)
    ) {
        self.host = host
        self.port = port
        self.token = token
        self.maximumConnections = maximumConnections
        self.sessionDuration = sessionDuration
    }
}
