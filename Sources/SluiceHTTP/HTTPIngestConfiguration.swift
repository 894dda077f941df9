/// Where the public port listens, and the limits it holds its senders to.
public struct HTTPIngestConfiguration: Sendable, Hashable {
    /// How long a sender may take over each part of an exchange.
    public struct Timeouts: Sendable, Hashable {
        /// From a request's first bytes to the end of its header; then 408.
        public var head: Duration
        /// From the end of the header to the end of the body; then 408.
        public var body: Duration
        /// From the end of a body to its first turn to be inflated and checked, and from one turn to the next.
        public var check: Duration
        /// How long a connection may stay open without a request.
        public var idle: Duration
        /// How long a sender may leave an answer unread before the connection is cut.
        public var answer: Duration

        /// Sets the timeouts.
        public init(
            head: Duration = .seconds(10),
            body: Duration = .seconds(60),
            check: Duration = .seconds(10),
            idle: Duration = .seconds(75),
            answer: Duration = .seconds(30)
        ) {
            self.head = head
            self.body = body
            self.check = check
            self.idle = idle
            self.answer = answer
        }
    }

    /// The name or address to listen on.
    public var host: String
    /// The port to listen on; 0 takes any that is free, which `HTTPIngestServer.bind` then tells.
    public var port: Int
    /// How long a request waits for room in a full queue, or for its commit to the journal to begin, before it gets 503.
    ///
    /// One whose commit is being written by then is answered with 504.
    public var maxWait: Duration
    /// How long a sender may take over each part of an exchange.
    public var timeouts: Timeouts
    /// After a request to shut down: how long requests that have begun may take to finish.
    public var drainTimeout: Duration
    /// The largest body that is taken, both as sent and after inflating; larger ones get 413.
    public var maximumBodyBytes: Int
    /// The most events of one body that may be invalid; with more of them the body gets 413, and nothing is taken.
    ///
    /// At most `greatestMaximumRejections`. Default: 10,000.
    public var maximumRejections: Int
    /// The most invalid events of one body that the answer explains.
    ///
    /// Default: 100. Whatever it is, an answer never exceeds 256 KiB, and gives the indexes and codes of all rejected events.
    public var maximumExplainedRejections: Int
    /// The most bytes of memory that all connections may take together, with the bodies that they send and the answers
    /// that they do not read.
    ///
    /// Default: 192 MiB. An open connection counts for 128 KiB; a body beyond 64 KiB, and all that is made of it, counts by itself. Past the
    /// limit new connections and such bodies get 503.
    public var maximumBufferedBytes: Int
    /// The most bytes of a request's target and header fields together; past it, 431.
    public var maximumHeaderBytes: Int
    /// The most header fields of a request; past it, 431.
    public var maximumHeaderFields: Int
    /// The most connections that are served at one time; more get 503.
    ///
    /// Default: `nil`, which takes as many as two thirds of `maximumBufferedBytes` and the limit on open files of the
    /// process allow, whichever are fewer; of the files, 384 are kept for the journal, the trackers and connections that
    /// are refused.
    public var maximumConnections: Int?
    /// How many threads serve connections; `nil` takes one a processor core.
    public var eventLoopCount: Int?

    /// The greatest `maximumRejections`: the indexes of more events would not fit into an answer.
    public static let greatestMaximumRejections = 10_000

    /// Sets where to listen; everything else begins at its default.
    public init(host: String = "127.0.0.1", port: Int = 8080) {
        self.host = host
        self.port = port
        maxWait = .seconds(5)
        timeouts = Timeouts()
        drainTimeout = .seconds(10)
        maximumBodyBytes = 4 << 20
        maximumRejections = Self.greatestMaximumRejections
        maximumExplainedRejections = 100
        maximumBufferedBytes = 192 << 20
        maximumHeaderBytes = 16 << 10
        maximumHeaderFields = 64
        maximumConnections = nil
        eventLoopCount = nil
    }

    /// The first setting that makes no sense, as a sentence.
    var problem: String? {
        if !(0...65535).contains(port) { return "The port must be between 0 and 65535, not \(port)." }
        if maximumBodyBytes < 1 { return "The largest body must be at least 1 byte." }
        if !(0...Self.greatestMaximumRejections).contains(maximumRejections) {
            return "The number of invalid events must be between 0 and \(Self.greatestMaximumRejections)."
        }
        if maximumExplainedRejections < 0 { return "The number of explained events must not be negative." }
        if let maximumConnections, maximumConnections < 1 { return "There must be room for at least 1 connection." }
        if maximumBufferedBytes < MemoryBudget.bytesPerConnection {
            return "There must be memory for at least 1 connection, which is \(MemoryBudget.bytesPerConnection) bytes."
        }
        let durations = [
            maxWait, drainTimeout, timeouts.head, timeouts.body, timeouts.check, timeouts.idle, timeouts.answer,
        ]
        if durations.contains(where: { $0 < .zero || $0 > .seconds(86400) }) {
            return "No timeout may be negative or longer than a day."
        }
        if let eventLoopCount, eventLoopCount < 1 { return "There must be at least 1 event loop." }
        return nil
    }
}
