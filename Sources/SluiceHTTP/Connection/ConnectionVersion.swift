/// The version of HTTP that a channel speaks.
package enum ConnectionVersion {
    /// HTTP/1.0 or HTTP/1.1: the channel is a connection, with one exchange after another.
    case http1
    /// HTTP/2: the channel is a stream of a connection, with one exchange.
    case http2
}
