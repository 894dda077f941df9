import EventModel
import EventPipeline
import NIOCore

/// What all connections share.
struct IngestContext: Sendable {
    /// The timeouts in NIO's unit.
    struct Timeouts: Sendable {
        let head: TimeAmount
        let body: TimeAmount
        let idle: TimeAmount
        let answer: TimeAmount
        let wait: TimeAmount
        /// How long a sender may take to close its side after the last answer.
        let linger = TimeAmount.seconds(2)
    }

    let pipeline: Pipeline
    let timeouts: Timeouts
    let maximumBodyBytes: Int
    let budget: BodyBudget
    let connections: LiveConnections
    /// The answer when a queue stayed full for as long as a request may wait.
    let queueFull: Failure

    init(configuration: HTTPIngestConfiguration, pipeline: Pipeline) {
        self.pipeline = pipeline
        timeouts = Timeouts(
            head: TimeAmount(configuration.timeouts.head),
            body: TimeAmount(configuration.timeouts.body),
            idle: TimeAmount(configuration.timeouts.idle),
            answer: TimeAmount(configuration.timeouts.answer),
            wait: TimeAmount(configuration.maxWait)
        )
        maximumBodyBytes = configuration.maximumBodyBytes
        budget = BodyBudget(limit: configuration.maximumBufferedBytes)
        connections = LiveConnections(limit: configuration.maximumConnections)
        queueFull = .queueFull(retryAfter: configuration.maxWait)
    }
}
