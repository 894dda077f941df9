#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Why the client could not be opened, or could not queue an event.
public struct ClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable text, for example `full`.
        public let description: String

        /// The configuration is invalid.
        public static let misconfigured = Code(description: "misconfigured")
        /// Another process uses the queue's folder.
        public static let locked = Code(description: "locked")
        /// The queue's folder cannot be read or written.
        public static let unusable = Code(description: "unusable")
        /// The queue has no room for another event.
        public static let full = Code(description: "full")
        /// Not all events could be sent in time.
        public static let timeout = Code(description: "timeout")
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for the developer.
    public let message: String

    /// Whether the same call may succeed later without a change.
    public var isRetryable: Bool { code != .misconfigured }

    /// The sentence and the code.
    public var description: String { "\(message) [\(code)]" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A failed call of the system, whose reason is in `errno`.
    static func unusable(_ verb: String, _ file: String, in folder: String) -> ClientError {
        unusable(verb, file, in: folder, because: RegularFile.Failure(errorNumber: errno))
    }

    /// A file of the queue that cannot be opened or read.
    static func unusable(
        _ verb: String,
        _ file: String,
        in folder: String,
        because failure: RegularFile.Failure
    ) -> ClientError {
        ClientError(.unusable, "Cannot \(verb) '\(file)' in '\(folder)': \(failure).")
    }
}
