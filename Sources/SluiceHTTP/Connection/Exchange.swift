import EventValidation
import NIOCore
import NIOHTTP1

/// One request and its answer, while they are under way.
struct Exchange {
    /// How the events stand in the body.
    var format = BodyFormat.document
    /// Whether the body is compressed.
    var isGzip = false
    /// Whether the sender wants to use the connection again.
    var keepsAlive = true
    /// Whether the sender speaks HTTP/1.0.
    var isVersion10 = false
    /// Whether the answer comes without its body, as HEAD wants.
    var isHead = false
    /// How many bytes of body were announced.
    var contentLength: Int?
    /// The body so far: at first the very bytes that were read, without a copy.
    var body: ByteBuffer?
    /// How many bytes of body came, kept or not.
    var bodyBytes = 0
    /// How many bytes of the budget for large bodies it holds.
    var reservedBytes = 0

    init() {}

    init(_ head: RequestHead) {
        keepsAlive = head.keepsAlive
        isVersion10 = head.isVersion10
        isHead = head.method == .HEAD
        contentLength = head.contentLength
    }

    /// Adds a piece of the body; the first is kept as it is.
    mutating func append(_ piece: ByteBuffer) {
        if body == nil {
            body = piece
            return
        }
        if let contentLength, contentLength > bodyBytes - piece.readableBytes, let kept = body?.readableBytes {
            body?.reserveCapacity(minimumWritableBytes: max(0, contentLength - kept))
        }
        body?.writeImmutableBuffer(piece)
    }
}
