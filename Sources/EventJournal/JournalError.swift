/// Why a call to a journal failed; none of its work was done.
public struct JournalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure; later versions may add codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, CaseIterable {
            case full = "journal-full"
            case unwritable = "journal-unwritable"
            case overdue = "journal-overdue"
            case unreadable = "journal-unreadable"
            case locked = "journal-locked"
            case tooLarge = "journal-too-large"
            case closed = "journal-closed"
        }

        package let kind: Kind

        /// The journal has reached its size limit, or the disk its minimum of free space.
        ///
        /// Passes when trackers catch up and old segments are removed.
        public static let full = Self(kind: .full)
        /// The disk is full, or writing to it fails.
        ///
        /// Passes when writing succeeds again.
        public static let unwritable = Self(kind: .unwritable)
        /// The disk has not finished a commit within the time limit.
        ///
        /// Passes when it does.
        public static let overdue = Self(kind: .overdue)
        /// The folder, or a file in it, cannot be read.
        public static let unreadable = Self(kind: .unreadable)
        /// Another process has the journal open.
        public static let locked = Self(kind: .locked)
        /// The events of one commit take more than 64 MiB.
        public static let tooLarge = Self(kind: .tooLarge)
        /// The journal was closed.
        public static let closed = Self(kind: .closed)

        /// The code's stable text, such as `journal-full`.
        public var rawValue: String { kind.rawValue }
        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// The kind of the failure.
    public let code: Code
    /// One sentence for the operator.
    public let message: String

    /// Whether the same call may succeed later.
    public var isRetryable: Bool { code == .full || code == .unwritable || code == .overdue }

    /// The sentence.
    public var description: String { message }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ code: Code, _ error: FileError) {
        self.init(code, "The journal's files cannot be used: \(error).")
    }
}
