import EventJournal

/// Why a quarantine could not be opened.
public struct QuarantineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// The folder cannot be written.
        case unwritable = "quarantine-unwritable"
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for the operator.
    public let message: String
    /// Never: somebody has to change something first.
    public var isRetryable: Bool { false }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }

    init(folder: String, _ error: JournalError) {
        code = .unwritable
        message = "The quarantine '\(folder)' cannot be opened for writing. \(error.message)"
    }
}
