/// A receiver's answer to a request.
package struct ReceiverAnswer: Sendable, Equatable {
    /// The maximum of the body that is read; the rest of a longer one is not, and the connection is closed.
    static let maximumBodyBytes = 1 << 20

    let status: Int
    /// The value of `Retry-After`; `nil` without one.
    let retryAfter: String?
    /// The body, or the beginning of a long one.
    let body: [UInt8]

    package init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}
