import NIOCore
import NIOHTTP2

/// The address of an ingest server and its limits.
public struct IngestConfiguration: Sendable, Hashable {
    /// The time limits for each part of a request.
    public struct Timeouts: Sendable, Hashable {
        /// From the first byte of a request to the end of its header; then 408.
        ///
        /// A TLS handshake, and the header of a proxy, may take as long; then the connection is cut. Default: 10 s.
        public var head: Duration
        /// From the end of the header to the end of the body; then 408.
        ///
        /// Default: 60 s.
        public var body: Duration
        /// From one piece of a body to the next; then 408.
        ///
        /// Default: 20 s.
        public var bodyPause: Duration
        /// From the end of a body to its first turn to be inflated and checked, and from one turn to the next; then 503.
        ///
        /// Default: 10 s.
        public var check: Duration
        /// How long a connection may stay open without a request.
        ///
        /// Default: 75 s.
        public var idle: Duration
        /// How long a sender may leave a response unread before the connection is cut.
        ///
        /// Default: 30 s.
        public var answer: Duration

        /// Makes timeouts; see the properties for the defaults.
        public init(
            head: Duration = .seconds(10),
            body: Duration = .seconds(60),
            bodyPause: Duration = .seconds(20),
            check: Duration = .seconds(10),
            idle: Duration = .seconds(75),
            answer: Duration = .seconds(30)
        ) {
            self.head = head
            self.body = body
            self.bodyPause = bodyPause
            self.check = check
            self.idle = idle
            self.answer = answer
        }
    }

    /// How CloudEvents become events.
    public struct CloudEvents: Sendable, Hashable {
        /// What is removed from the beginning of a CloudEvent's `type`; the rest is the event's name.
        ///
        /// Default: nothing.
        public var typePrefix: String
        /// Whether the `subject` is the event's `userId`; otherwise it is in the `context`.
        ///
        /// Default: `false`.
        public var subjectIsUserID: Bool

        /// Makes a mapping; see the properties for the defaults.
        public init(typePrefix: String = "", subjectIsUserID: Bool = false) {
            self.typePrefix = typePrefix
            self.subjectIsUserID = subjectIsUserID
        }
    }

    /// The limits of a connection that speaks HTTP/2.
    public struct HTTP2: Sendable, Hashable {
        /// The maximum number of requests at one time.
        ///
        /// Default: 100. Each counts as much memory as a connection.
        public var maximumStreams: Int
        /// The maximum number of requests in a burst that the sender cancels or that violate the protocol; beyond it,
        /// the connection is closed.
        ///
        /// Default: 200. After 30 s as many are allowed again.
        public var maximumResets: Int

        /// Makes limits; see the properties for the defaults.
        public init(maximumStreams: Int = 100, maximumResets: Int = 200) {
            self.maximumStreams = maximumStreams
            self.maximumResets = maximumResets
        }
    }

    /// The host name or address to listen on.
    ///
    /// Default: `127.0.0.1`.
    public var host: String
    /// The port to listen on.
    ///
    /// Default: 8080.
    ///
    /// 0 chooses a free port, which `IngestServer.bind` returns.
    public var port: Int
    /// How long a request waits for room in a full queue, or for its commit to the journal to begin; then 503.
    ///
    /// If the commit is being written by then, the response is 504. Default: 5 s.
    public var maxWait: Duration
    /// The time limits for each part of a request.
    public var timeouts: Timeouts
    /// The limits of a connection that speaks HTTP/2.
    public var http2: HTTP2
    /// The proxies in front of the server: their connections do not count towards `maximumConnectionsPerAddress`, and their
    /// `X-Forwarded-For` states the sender's address for `recordsClientAddress`.
    ///
    /// Default: none.
    public var proxies: [NetworkRange]
    /// Whether each connection of `proxies` begins with a header of the PROXY protocol, version 2, which states the address of the
    /// sender.
    ///
    /// Default: `false`. Other senders must not send such a header.
    public var expectsProxyHeader: Bool
    /// Whether the sender's address becomes `ip` in the `context` of each event that has no `ip`.
    ///
    /// Default: `false`: no event and no log contains the address. A plan can protect `ip` like every key of the context.
    public var recordsClientAddress: Bool
    /// Whether the header field `traceparent` of a request (W3C Trace Context) becomes `traceparent` in the `context` of each event that
    /// has none.
    ///
    /// Default: `false`. An invalid value is ignored.
    public var recordsTraceparent: Bool
    /// How CloudEvents become events.
    public var cloudEvents: CloudEvents
    /// How long requests that are in progress may take to finish at a graceful shutdown.
    ///
    /// Default: 10 s.
    public var drainTimeout: Duration
    /// The largest body, in bytes, both as sent and after inflating; larger ones get 413.
    ///
    /// Default: 8 MiB, because RudderStack's clients send bodies of that size.
    public var maximumBodyBytes: Int
    /// The maximum number of events in one body; a body with more of them gets 413, and none of its events is accepted.
    ///
    /// If the clients of its format discard a batch after 413, those beyond the limit are rejected together, as one.
    ///
    /// Default: 100,000.
    public var maximumEvents: Int
    /// The maximum number of invalid events of one body; a body with more of them gets 413, and none of its events is accepted.
    ///
    /// If the clients of its format discard a batch after 413, those beyond the limit are only counted.
    ///
    /// At most `greatestMaximumRejections`. Default: 10,000.
    public var maximumRejections: Int
    /// The maximum number of invalid events of one body that the response explains.
    ///
    /// Default: 100. The response always gives the indexes of up to `maximumRejections` rejected events and the codes of all, and never
    /// exceeds `maximumAnswerBytes`.
    public var maximumExplainedRejections: Int
    /// The maximum number of bytes of a response, its header included; the explanations end where it is reached.
    ///
    /// Default: 256 KiB. It must have room for the indexes of `maximumRejections` events: 16 KiB, and 24 bytes for each.
    public var maximumAnswerBytes: Int
    /// The maximum number of bytes of a JSON Schema that `GET /v1/plan` answers with; a larger one is answered with 500.
    ///
    /// Default: 16 MiB. The server keeps up to as many bytes of schemas. Responses with them that are not read yet take at most a
    /// quarter of `maximumBufferedBytes`, or one schema of this size.
    public var maximumPlanBytes: Int
    /// The maximum number of bytes of memory for all connections together, including the bodies that they send and the responses that
    /// they do not read; beyond it, new connections and large bodies get 503.
    ///
    /// Default: 192 MiB. An open connection counts as 128 KiB; a body of more than 64 KiB, and everything made of it, counts in
    /// addition.
    public var maximumBufferedBytes: Int
    /// The maximum number of bytes of a request's target and header fields together; then 431.
    ///
    /// Default: 16 KiB.
    public var maximumHeaderBytes: Int
    /// The maximum number of header fields of a request; then 431.
    ///
    /// Default: 64.
    public var maximumHeaderFields: Int
    /// The maximum number of connections at one time; further ones get 503.
    ///
    /// Default: `nil`, which derives the limit from two thirds of `maximumBufferedBytes` and from the process's limit on open
    /// files, whichever allows fewer; 384 files are reserved for the journal, the trackers and refused connections.
    public var maximumConnections: Int?
    /// The maximum number of connections from one address at one time; further ones get 503.
    ///
    /// The addresses of an IPv6 network of 64 bits count as one. Default: `nil`, half of the limit on all connections.
    public var maximumConnectionsPerAddress: Int?
    /// The maximum number of connections and HTTP/2 streams that count for one write key at one time; further requests get 503.
    ///
    /// A connection counts for the key of its last request. Default: `nil`, half of the limit on all connections.
    public var maximumConnectionsPerKey: Int?
    /// The maximum number of requests on one HTTP/1.1 connection; after that it is closed.
    ///
    /// Default: 100,000.
    public var maximumRequestsPerConnection: Int
    /// The maximum number of requests of an HTTP/1.1 connection that wait behind one that is not answered yet; after that many, the
    /// connection is closed, and the others are not answered.
    ///
    /// Default: 100.
    public var maximumPipelinedRequests: Int
    /// Whether a server without keys may listen on any address, and accepts events from every web page.
    ///
    /// Default: `false`: without keys it listens only on loopback addresses, and accepts events only from web pages of this machine.
    public var isOpen: Bool
    /// The number of event loops, each with its own thread.
    ///
    /// Default: `nil`, one for each processor core.
    public var eventLoopCount: Int?

    /// The maximum valid `maximumRejections`: the indexes of more events would not fit into a response.
    public static let greatestMaximumRejections = 10_000

    /// Makes a configuration; everything but the address has its default.
    public init(host: String = "127.0.0.1", port: Int = 8080) {
        self.host = host
        self.port = port
        maxWait = .seconds(5)
        timeouts = Timeouts()
        http2 = HTTP2()
        proxies = []
        expectsProxyHeader = false
        recordsClientAddress = false
        recordsTraceparent = false
        cloudEvents = CloudEvents()
        drainTimeout = .seconds(10)
        maximumBodyBytes = 8 << 20
        maximumEvents = 100_000
        maximumRejections = Self.greatestMaximumRejections
        maximumExplainedRejections = 100
        maximumAnswerBytes = 256 << 10
        maximumPlanBytes = 16 << 20
        maximumBufferedBytes = 192 << 20
        maximumHeaderBytes = 16 << 10
        maximumHeaderFields = 64
        maximumConnections = nil
        maximumConnectionsPerAddress = nil
        maximumConnectionsPerKey = nil
        maximumRequestsPerConnection = 100_000
        maximumPipelinedRequests = 100
        isOpen = false
        eventLoopCount = nil
    }

    /// A sentence about the first setting that is out of range; `nil` if all are valid.
    var problem: String? {
        if !(0...65535).contains(port) { return "The port must be between 0 and 65535, not \(port)." }
        if expectsProxyHeader, proxies.isEmpty { return "The header of a proxy is expected, but there are no proxies." }
        if maximumBodyBytes < 1 { return "The largest body must be at least 1 byte." }
        if !(0...Self.greatestMaximumRejections).contains(maximumRejections) {
            return "The number of invalid events must be between 0 and \(Self.greatestMaximumRejections)."
        }
        if maximumAnswerBytes < AnswerEncoder.bytesBesidesIndexes + AnswerEncoder.bytesPerIndex * maximumRejections {
            return "A response has no room for the indexes of \(maximumRejections) invalid events."
        }
        if maximumPlanBytes < 1 { return "The largest JSON Schema must have at least 1 byte." }
        if maximumExplainedRejections < 0 { return "The number of explained events must not be negative." }
        for (limit, name) in [
            (maximumEvents, "event in a body"), (maximumRequestsPerConnection, "request on a connection"),
            (maximumPipelinedRequests, "waiting request"), (maximumConnections ?? 1, "connection"),
            (maximumConnectionsPerAddress ?? 1, "connection from an address"),
            (maximumConnectionsPerKey ?? 1, "connection of a key"), (http2.maximumStreams, "HTTP/2 stream"),
            (http2.maximumResets, "cancelled HTTP/2 stream"), (maximumHeaderFields, "header field"),
        ] where limit < 1 {
            return "There must be room for at least 1 \(name)."
        }
        if !(1 << 10...1 << 20).contains(maximumHeaderBytes) {
            return "The header of a request must have between 1 KiB and 1 MiB."
        }
        if maximumBufferedBytes < MemoryBudget.bytesPerConnection {
            return "There must be memory for at least 1 connection, which is \(MemoryBudget.bytesPerConnection) bytes."
        }
        let durations = [
            maxWait, drainTimeout, timeouts.head, timeouts.body, timeouts.bodyPause, timeouts.check, timeouts.idle,
            timeouts.answer,
        ]
        if durations.contains(where: { $0 < .zero || $0 > .seconds(86400) }) {
            return "No timeout may be negative or longer than a day."
        }
        if let eventLoopCount, eventLoopCount < 1 { return "There must be at least 1 event loop." }
        return nil
    }
}

extension IngestConfiguration {
    /// The limits of an HTTP/2 connection in NIO's terms.
    var http2Connection: NIOHTTP2Handler.ConnectionConfiguration {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: http2.maximumStreams),
            // A field counts 32 bytes more than it has (RFC 9113, section 6.5.2). A longer header ends the connection, so there is room
            // for those that are answered with 431.
            HTTP2Setting(
                parameter: .maxHeaderListSize,
                value: 4 * (maximumHeaderBytes + 32 * (maximumHeaderFields + 4))
            ),
        ]
        // Frames of a stream that was reset may still be on their way; on one that is forgotten, they end the connection.
        connection.maximumRecentlyResetStreams = 4 * min(http2.maximumStreams, 1000)
        // `FrameGuard` counts all frames, and lets complete requests be answered before the connection ends. These limits would end it
        // at once; a window in which no two frames fit switches one off.
        connection.maximumSequentialEmptyDataFrames = .max
        connection.maximumConnectionGlitches = .max
        connection.controlFrameRateLimit.windowLength = .nanoseconds(1)
        return connection
    }

    /// The limits of an HTTP/2 stream in NIO's terms.
    var http2Stream: NIOHTTP2Handler.StreamConfiguration {
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.outboundBufferSizeHighWatermark = MemoryBudget.unreadAnswerBytes
        stream.outboundBufferSizeLowWatermark = MemoryBudget.unreadAnswerBytes / 2
        stream.streamResetFrameRateLimit.windowLength = .nanoseconds(1)
        stream.streamErrorRateLimit.windowLength = .nanoseconds(1)
        return stream
    }
}
