import HTTPTypes
import Hummingbird
import Logging

/// Who asks for a change, for the log.
struct Asker: Sendable {
    /// The header field in which a command says for whom it asks; it is logged, and decides nothing.
    private static let userField = "Sluice-User"
    private static let maximumUserBytes = 64

    /// For whom, if the request says so.
    let user: String?
    /// Through which entry point: the private port or the socket.
    let through: String

    /// Reads a request through an entry point.
    init(_ request: Request, _ entryPoint: String) {
        through = entryPoint
        let user = HTTPField.Name(Self.userField).flatMap { request.headers[$0] }
        self.user = user.map { String($0.prefix(Self.maximumUserBytes)) }
    }

    /// The facts for the log.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["through": "\(through)"]
        if let user { metadata["user"] = "\(user)" }
        return metadata
    }
}
