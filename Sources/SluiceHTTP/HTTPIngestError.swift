/// Why the public port could not be opened.
public struct HTTPIngestError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// The settings make no sense.
        case misconfigured
        /// The address could not be listened on: in use, not ours, or not allowed.
        case cannotListen = "cannot-listen"
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for the operator.
    public let message: String
    /// What the system said.
    public let underlying: (any Error)?
    /// Whether the same settings may work later: an address in use may become free.
    public var isRetryable: Bool { code == .cannotListen }

    /// The sentence, the code, and what the system said.
    public var description: String {
        let reason = underlying.map { ": \($0)" } ?? ""
        return "\(message) [\(code.rawValue)]\(reason)"
    }
}
