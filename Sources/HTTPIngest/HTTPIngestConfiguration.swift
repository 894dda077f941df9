/// Where the public port listens, and the limits it holds its senders to.
public struct HTTPIngestConfiguration: Sendable, Hashable {
    /// How long a sender may take over each part of an exchange.
    public struct Timeouts: Sendable, Hashable {
        /// From a request's first bytes to the end of its header; then 408.
        public var head: Duration
        /// From the end of the header to the end of the body; then 408.
        public var body: Duration
        /// How long a connection may stay open without a request.
        public var idle: Duration
        /// How long a sender may leave an answer unread before the connection is cut.
        public var answer: Duration

        /// Sets the timeouts.
        public init(
            head: Duration = .seconds(10),
            body: Duration = .seconds(60),
            idle: Duration = .seconds(75),
            answer: Duration = .seconds(30)
        ) {
            self.head = head
            self.body = body
            self.idle = idle
            self.answer = answer
        }
    }

    /// The name or address to listen on.
    public var host: String
    /// The port to listen on; 0 takes any that is free, which `HTTPIngestServer.bind` then tells.
    public var port: Int
    /// How long a request waits for room in a full queue before it is answered with 503.
    public var maxWait: Duration
    /// How long a sender may take over each part of an exchange.
    public var timeouts: Timeouts
    /// After a request to shut down: how long requests that have begun may take to finish.
    public var drainTimeout: Duration
    /// The largest body that is taken, both as sent and after inflating; larger ones get 413.
    public var maximumBodyBytes: Int
    /// The most events of one body that may be invalid; with more of them the body gets 413, and nothing is taken.
    public var maximumRejections: Int
    /// The most bytes of all bodies over 64 KiB that are held at one time; past it, such bodies get 503.
    public var maximumBufferedBytes: Int
    /// The most bytes of a request's target and header fields together; past it, 431.
    public var maximumHeaderBytes: Int
    /// The most header fields of a request; past it, 431.
    public var maximumHeaderFields: Int
    /// The most connections that are served at one time; more get 503.
    public var maximumConnections: Int
    /// How many threads serve connections; `nil` takes one a processor core.
    public var eventLoopCount: Int?

    /// Sets where to listen; everything else begins at its default.
    public init(host: String = "127.0.0.1", port: Int = 8080) {
        self.host = host
        self.port = port
        maxWait = .seconds(5)
        timeouts = Timeouts()
        drainTimeout = .seconds(10)
        maximumBodyBytes = 4 << 20
        maximumRejections = 10_000
        maximumBufferedBytes = 64 << 20
        maximumHeaderBytes = 16 << 10
        maximumHeaderFields = 64
        maximumConnections = 1024
        eventLoopCount = nil
    }

    /// The first setting that makes no sense, as a sentence.
    var problem: String? {
        if !(0...65535).contains(port) { return "The port must be between 0 and 65535, not \(port)." }
        if maximumBodyBytes < 1 { return "The largest body must be at least 1 byte." }
        if maximumRejections < 0 { return "The number of invalid events must not be negative." }
        if maximumConnections < 1 { return "There must be room for at least 1 connection." }
        let durations = [maxWait, drainTimeout, timeouts.head, timeouts.body, timeouts.idle, timeouts.answer]
        if durations.contains(where: { $0 < .zero || $0 > .seconds(86400) }) {
            return "No timeout may be negative or longer than a day."
        }
        if let eventLoopCount, eventLoopCount < 1 { return "There must be at least 1 event loop." }
        return nil
    }
}
