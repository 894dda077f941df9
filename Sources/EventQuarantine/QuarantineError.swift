import EventJournal

/// Why a quarantine could not be opened.
public struct QuarantineError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure; later versions may add codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, CaseIterable {
            case unwritable = "quarantine-unwritable"
        }

        package let kind: Kind

        /// The folder cannot be written.
        public static let unwritable = Self(kind: .unwritable)

        /// The code's stable text, such as `quarantine-unwritable`.
        public var rawValue: String { kind.rawValue }
        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// The kind of the failure.
    public let code: Code
    /// One sentence for the operator.
    public let message: String
    /// Always false: the operator has to change something first.
    public var isRetryable: Bool { false }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code)]" }

    init(folder: String, _ error: JournalError) {
        code = .unwritable
        message = "The quarantine '\(folder)' cannot be opened for writing. \(error.message)"
    }
}
