import EventModel
package import EventPipeline
import NIOCore

/// State that all connections share.
package struct IngestContext: Sendable {
    /// The timeouts in NIO's unit.
    struct Timeouts: Sendable {
        let head: TimeAmount
        let body: TimeAmount
        let bodyPause: TimeAmount
        let check: TimeAmount
        let idle: TimeAmount
        let answer: TimeAmount
        let wait: TimeAmount
        /// How long a sender may take to close its side after the last response.
        let linger = TimeAmount.seconds(2)
    }

    let pipeline: Pipeline
    let metrics = HTTPMetrics()
    let timeouts: Timeouts
    let maxWait: Duration
    let maximumBodyBytes: Int
    let maximumRejections: Int
    let maximumAnswerBytes: Int
    let connectionLimits: ConnectionState.Limits
    let maximumConnectionsPerKey: Int
    let cloudEvents: IngestConfiguration.CloudEvents
    let recordsClientAddress: Bool
    let recordsTraceparent: Bool
    let proxies: [NetworkRange]
    package let budget: MemoryBudget
    /// The part of `budget` that responses with the plan's schema may take, so that senders who do not read them leave the rest.
    package let planBudget: MemoryBudget
    let connections: LiveConnections
    let keys: WriteKeys
    let journalShares: JournalShares
    /// The web pages that may send if there are no keys.
    let openOrigins: OriginPattern
    /// The response if a queue stayed full for as long as a request may wait.
    let queueFull: Failure
    /// Whether answers say if the accepted events are stored or delivered.
    let namesAcknowledgement: Bool

    /// Creates the state of an endpoint; `connectionLimit` is the maximum number of its connections.
    package init(
        configuration: IngestConfiguration,
        connectionLimit: Int,
        keys: WriteKeys,
        pipeline: Pipeline
    ) {
        self.pipeline = pipeline
        timeouts = Timeouts(
            head: TimeAmount(configuration.timeouts.head),
            body: TimeAmount(configuration.timeouts.body),
            bodyPause: TimeAmount(configuration.timeouts.bodyPause),
            check: TimeAmount(configuration.timeouts.check),
            idle: TimeAmount(configuration.timeouts.idle),
            answer: TimeAmount(configuration.timeouts.answer),
            wait: TimeAmount(configuration.maxWait)
        )
        maxWait = configuration.maxWait
        maximumBodyBytes = configuration.maximumBodyBytes
        maximumRejections = configuration.maximumRejections
        maximumAnswerBytes = configuration.maximumAnswerBytes
        connectionLimits = ConnectionState.Limits(
            bodyBytes: configuration.maximumBodyBytes,
            requests: UInt64(configuration.maximumRequestsPerConnection),
            pipelinedRequests: configuration.maximumPipelinedRequests
        )
        maximumConnectionsPerKey = configuration.maximumConnectionsPerKey ?? max(1, connectionLimit / 2)
        cloudEvents = configuration.cloudEvents
        recordsClientAddress = configuration.recordsClientAddress
        recordsTraceparent = configuration.recordsTraceparent
        proxies = configuration.proxies
        budget = MemoryBudget(limit: configuration.maximumBufferedBytes)
        planBudget = MemoryBudget(
            limit: max(
                configuration.maximumBufferedBytes / 4,
                configuration.maximumPlanBytes + AnswerEncoder.maximumHeaderBytes
            ),
            within: budget
        )
        connections = LiveConnections(
            limit: connectionLimit,
            limitPerAddress: configuration.maximumConnectionsPerAddress ?? max(1, connectionLimit / 2),
            budget: budget
        )
        self.keys = keys
        journalShares = JournalShares(of: pipeline)
        namesAcknowledgement = pipeline.acknowledgementPolicy != .stored
        openOrigins = configuration.isOpen ? .any : .loopback
        queueFull = .queueFull(retryAfter: configuration.maxWait)
    }

    /// The failure to respond with if the pipeline did not accept a batch.
    ///
    /// `missedCommit` says whether the batch was withdrawn because its commit did not begin in time.
    func failure(for error: TrackError, missedCommit: Bool) -> Failure {
        switch error.code.kind {
        case .cancelled: missedCommit ? .notStored(retryAfter: maxWait) : queueFull
        case .full: queueFull
        case .unavailable: .unavailable(retryAfter: pipeline.retryAfter(error) ?? .seconds(1))
        case .closed: .shuttingDown
        // `submit` is given events that were checked; the journal's other errors are answered like this, too.
        case .notStored, .invalid: .notStored(retryAfter: pipeline.retryAfter(error) ?? .seconds(5))
        case .outcomeUnknown: .outcomeUnknown
        }
    }
}
