/// Why bytes could not be inflated or compressed.
package struct GzipError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure.
    package enum Code: String, Sendable, Hashable {
        /// The bytes are not gzip, or fail their checksum.
        case corrupt
        /// The bytes end in the middle of a gzip member.
        case truncated
        /// The output exceeds the limit.
        case outputTooLarge = "output-too-large"
        /// There was not enough memory.
        case outOfMemory = "out-of-memory"
    }

    /// The kind of the failure.
    package let code: Code
    /// One sentence; it never shows a byte of the input.
    package let message: String
    /// Whether the same bytes may inflate later: only after `outOfMemory`.
    package var isRetryable: Bool { code == .outOfMemory }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence and the code.
    package var description: String { "\(message) [\(code.rawValue)]" }
}
