/// Why a quarantine file could not be opened.
public struct QuarantineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// The file cannot be opened for writing.
        case unwritable = "quarantine-unwritable"
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for the operator.
    public let message: String
    /// What the system said: a value of `errno`.
    public let errorNumber: Int32
    /// Never: somebody has to change something first.
    public var isRetryable: Bool { false }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }
}
