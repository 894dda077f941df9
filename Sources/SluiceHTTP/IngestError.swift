/// Why the ingest server could not start.
public struct IngestError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure; later versions may add codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, CaseIterable {
            case misconfigured
            case noKeys = "no-keys"
            case cannotListen = "cannot-listen"
        }

        package let kind: Kind

        /// A setting is out of range.
        public static let misconfigured = Self(kind: .misconfigured)
        /// There are no write keys, and the address is not a loopback one, so anyone could send events.
        public static let noKeys = Self(kind: .noKeys)
        /// The server cannot listen on the address: it is in use, belongs to another machine, or is not permitted.
        public static let cannotListen = Self(kind: .cannotListen)

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
