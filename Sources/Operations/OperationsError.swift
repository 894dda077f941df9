import SluiceHTTP

/// Why the private port could not start.
public struct OperationsError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure; later versions may add codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, CaseIterable {
            case noToken = "no-token"
            case shortToken = "short-token"
            case cannotListen = "cannot-listen"
            case unusableFile = "unusable-file"
        }

        package let kind: Kind

        /// The address is not a loopback one, and there is no token, so anyone could use the port.
        public static let noToken = Self(kind: .noToken)
        /// The token has fewer than 16 bytes.
        public static let shortToken = Self(kind: .shortToken)
        /// The port cannot listen on the address: it is in use, belongs to another machine, or is not permitted.
        public static let cannotListen = Self(kind: .cannotListen)
        /// The socket, or the file of what is paused or changed, cannot be used.
        public static let unusableFile = Self(kind: .unusableFile)

        /// The code's stable text, such as `cannot-listen`.
        public var rawValue: String { kind.rawValue }
        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// The kind of the failure.
    public let code: Code
    /// One sentence for the operator.
    public let message: String
    /// The error of the system, if there was one.
    public let underlying: (any Error)?
    /// Whether the same settings may work later: an address in use may become free.
    public var isRetryable: Bool { code == .cannotListen }

    /// The sentence, the code, and the error of the system.
    public var description: String {
        let reason = underlying.map { ": \(SystemReason.of($0))" } ?? ""
        return "\(message) [\(code)]\(reason)"
    }
}
