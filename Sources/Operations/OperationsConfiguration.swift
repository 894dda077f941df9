/// Where the private port listens, and who may use it.
public struct OperationsConfiguration: Sendable {
    /// The least number of bytes of a token.
    public static let minimumTokenBytes = 16

    /// Whether to open the port; without it, commands can reach the process only through `socketPath`.
    ///
    /// Default: true.
    public var hasPort: Bool
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
    /// Reads the token again for each request, so that a change takes effect without a restart; it ends all sessions.
    ///
    /// Default: `nil`. The earlier token stays valid if this returns `nil` or a token that is too short.
    public var readToken: (@Sendable () -> String?)?
    /// The maximum number of connections whose last request was from somebody who may use the port.
    ///
    /// Without the token, half as many connections are allowed from this machine, and half as many from other
    /// machines; one address may have half of those. A further connection closes the oldest one.
    ///
    /// Default: 64.
    public var maximumConnections: Int
    /// How long somebody stays logged in.
    ///
    /// Default: 12 hours.
    public var sessionDuration: Duration

    /// The path of a Unix domain socket for commands on the same machine, which only the user of the process may use, without a
    /// token; `nil` for none.
    ///
    /// Default: `nil`. The path has at most 98 bytes on Linux and 94 on macOS, because the socket is made in a folder beside it. A
    /// socket that a killed process has left is replaced; another file, or the socket of a running process, is not.
    public var socketPath: String?
    /// Whether the server ends with an error if the socket cannot be made, or else logs that and runs without one.
    ///
    /// Default: true.
    public var requiresSocket: Bool
    /// The file that keeps which trackers are paused, across restarts; `nil` to forget it.
    ///
    /// Default: `nil`.
    public var controlFile: String?

    /// Uses the defaults for all arguments that are not passed.
    public init(
        hasPort: Bool = true,
        host: String = "127.0.0.1",
        port: Int = 8081,
        token: String? = nil,
        maximumConnections: Int = 64,
        sessionDuration: Duration = .seconds(12 * 3600),
        socketPath: String? = nil,
        requiresSocket: Bool = true,
        controlFile: String? = nil
    ) {
        self.hasPort = hasPort
        self.host = host
        self.port = port
        self.token = token
        self.maximumConnections = maximumConnections
        self.sessionDuration = sessionDuration
        self.socketPath = socketPath
        self.requiresSocket = requiresSocket
        self.controlFile = controlFile
    }
}
