/// The key that a connection, or a stream of an HTTP/2 connection, counts for: that of its last request with a valid key.
///
/// A stream takes as much memory as a connection, and its requests also decide about its connection. It belongs to the connection's
/// event loop.
package final class ConnectionKey {
    private let limit: Int
    /// The connection that a stream belongs to.
    private let connection: ConnectionKey?
    private var limiter: KeyLimiter?

    /// Creates the key of a connection or a stream, which counts for none yet.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of connections and streams of a key at one time.
    ///   - connection: The connection that a stream belongs to; `nil` for a connection.
    package init(limit: Int, within connection: ConnectionKey? = nil) {
        self.limit = limit
        self.connection = connection
    }

    /// Counts it for a key, and no longer for the one before; false if the key has too many connections and streams.
    func change(to limiter: KeyLimiter) -> Bool {
        if let connection, !connection.change(to: limiter) { return false }
        guard limiter !== self.limiter else { return true }
        guard limiter.addConnection(within: limit) else { return false }
        self.limiter?.removeConnection()
        self.limiter = limiter
        return true
    }

    /// Counts it for no key; call it once, when the connection or the stream has closed.
    func release() {
        limiter?.removeConnection()
        limiter = nil
    }
}
