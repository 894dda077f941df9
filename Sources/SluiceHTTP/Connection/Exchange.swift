import EventValidation
import NIOCore
import NIOHTTP1

/// The state of one request and its response.
struct Exchange {
    /// Whether the valid events are stored; if not, they are only checked.
    var stores = true
    /// Whether one invalid event makes the whole body invalid.
    var isStrict = false
    /// What the request counts as in metrics.
    var label = HTTPMetrics.DialectLabel.other
    /// When its header was received; `nil` if there is none yet.
    var began: NIODeadline?
    /// What the body and the answer are written in.
    var language = BodyLanguage.sluice(.document)
    /// What the sender's key allows; `nil` if anyone may send, and as long as the key is unknown.
    var grant: KeyGrant?
    /// The sender's key, once it is judged to be valid.
    var key: [UInt8]?
    /// Whether the key is expected in the body.
    var expectsKeyInBody = false
    /// The web page that sends, if a browser says so.
    var origin: String?
    /// The sender, with whom a request shares what is limited by address; `nil` if it is unknown.
    var sender: NetworkRange.Address?
    /// What is added to the `context` of the events.
    var additions = ContextAdditions()
    /// Header fields of each response.
    var fields: HTTPHeaders = [:]
    /// The number of events that count against the key's limits.
    var countedEvents = 0
    /// The size of the batch that counts against the key's part of the journal.
    var countedBytes = 0
    /// Whether the body is compressed.
    var isGzip = false
    /// Whether the connection can be used again.
    var keepsAlive = true
    /// Whether the sender speaks HTTP/1.0.
    var isVersion10 = false
    /// Whether the response has no body, for HEAD.
    var isHead = false
    /// The values of `If-None-Match`.
    var knownTags: [String] = []
    /// The announced size of the body, in bytes.
    var contentLength: Int?
    /// The body received so far; the first piece is not copied.
    var body: ByteBuffer?
    /// The size of the received body, including discarded pieces.
    var bodyBytes = 0
    /// The bytes of the memory budget that it has reserved.
    var reservedBytes = 0

    init() {}

    init(_ head: RequestHead) {
        keepsAlive = head.keepsAlive
        isVersion10 = head.isVersion10
        isHead = head.method == .HEAD
        knownTags = head.knownTags
        contentLength = head.contentLength
        origin = head.origin
        if case .validate = head.route { stores = false }
        isStrict = head.isStrict == true
        if case .dialect(let dialect) = head.route { language = .dialect(dialect) }
        switch head.route {
        case .events, .validate, .dialect: label = language.label
        case .plan, .settings, .livez, .readyz, nil: break
        }
    }

    /// Appends a piece of the body; the first is not copied.
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
