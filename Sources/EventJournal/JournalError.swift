/// Why a journal did not do what it was asked; nothing of it was done.
public struct JournalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of reason it is.
    public enum Code: String, Sendable {
        /// The journal has reached its limit, or the disk its floor. Passes when trackers catch up and segments retire.
        case full = "journal-full"
        /// The disk is full, or does not write. Passes when it does again.
        case unwritable = "journal-unwritable"
        /// The disk has not answered for longer than a commit may take. Passes when it does.
        case overdue = "journal-overdue"
        /// The folder or a file in it cannot be read.
        case unreadable = "journal-unreadable"
        /// Another process has the journal.
        case locked = "journal-locked"
        /// More events at one time than the journal takes in one commit, which is 64 MiB.
        case tooLarge = "journal-too-large"
        /// The journal was closed.
        case closed = "journal-closed"
    }

    /// What kind of reason it is.
    public let code: Code
    /// The reason, in a sentence.
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
