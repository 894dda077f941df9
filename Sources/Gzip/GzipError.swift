/// Why bytes could not be inflated.
package struct GzipError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    package enum Code: String, Sendable, Hashable {
        /// The bytes are not gzip, or fail their checksum.
        case corrupt
        /// The bytes end in the middle of a gzip member.
        case truncated
        /// More comes out than the limit allows.
        case outputTooLarge = "output-too-large"
        /// zlib had no memory left.
        case outOfMemory = "out-of-memory"
    }

    /// What kind of failure it is.
    package let code: Code
    /// One sentence; it never shows a byte of the input.
    package let message: String
    /// Whether the same bytes may inflate later: only when memory was short.
    package var isRetryable: Bool { code == .outOfMemory }
    /// Always `nil`: zlib reports codes, not errors.
    package var underlying: (any Error)? { nil }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence and the code.
    package var description: String { "\(message) [\(code.rawValue)]" }
}
