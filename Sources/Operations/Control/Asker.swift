import HTTPTypes
import Hummingbird
import Logging

/// Who asks for a change, for the log.
enum Asker {
    /// The header field in which a command says for whom it asks; it is logged, and decides nothing.
    static let userField = "Sluice-User"
    private static let maximumUserBytes = 64

    /// The facts about a request through a door: the private port or the socket.
    static func metadata(of request: Request, _ door: String) -> Logger.Metadata {
        var asker: Logger.Metadata = ["through": "\(door)"]
        if let name = HTTPField.Name(userField), let user = request.headers[name] {
            asker["user"] = "\(user.prefix(maximumUserBytes))"
        }
        return asker
    }
}
