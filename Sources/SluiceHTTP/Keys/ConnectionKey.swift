/// The key that a connection counts for: that of its last request with a valid key.
///
/// An HTTP/2 connection shares it with its streams. It belongs to the connection's event loop.
final class ConnectionKey {
    private let limit: Int
    private var limiter: KeyLimiter?

    /// - Parameter limit: The maximum number of connections of a key at one time.
    init(limit: Int) {
        self.limit = limit
    }

    /// Counts the connection for a key, and no longer for the one before; false if the key has too many connections.
    func change(to limiter: KeyLimiter) -> Bool {
        guard limiter !== self.limiter else { return true }
        guard limiter.addConnection(within: limit) else { return false }
        self.limiter?.removeConnection()
        self.limiter = limiter
        return true
    }

    /// Counts the connection for no key; call it once, when the connection has closed.
    func release() {
        limiter?.removeConnection()
        limiter = nil
    }
}
