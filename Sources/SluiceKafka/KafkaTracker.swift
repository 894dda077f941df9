public import EventValidation
public import Logging
public import TrackerKit

/// Writes events to Kafka: a message for each, its value the canonical JSON, its headers those of CloudEvents.
///
/// The key is the user's id, else the anonymous id, else the event's id. The producer is idempotent and waits for all
/// replicas, so what is delivered is in the log, and a retry by librdkafka creates no duplicate. A retry by the
/// pipeline can be a duplicate, which consumers recognize by the header `ce_id`.
///
/// **Order.** Events of one key are written in the order of their deliveries, and librdkafka keeps that order through
/// its own retries. It is lost if a message fails (it times out after `message.timeout.ms`, a broker rejects it, or
/// the delivery is cancelled) while a later one is delivered: the pipeline retries the first after the second. It is
/// also lost when partitions are added to the topic, and by librdkafka's retries with `enable.idempotence=false`.
///
/// **Refused messages.** A message that is larger than `message.max.bytes` here, or that a broker rejects as too large
/// or invalid, is refused; the other messages of its request are delivered. All other errors are retried, including a
/// rejected timestamp, because the timestamp is this machine's clock and not the event's.
///
/// **Topics.** `start` asks for every topic that the plan's events go to. Brokers with automatic topic creation
/// create them then. A topic that accepts no messages does not affect the others: its events are retried, with its name
/// in the reason. librdkafka may wait for it for up to `message.timeout.ms`.
public final class KafkaTracker: CheckableTracker {
    let configuration: KafkaConfiguration
    let session: SessionOnDemand<KafkaSession>
    private let logger: Logger

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker; it connects when it starts.
    public init(_ configuration: KafkaConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        session = SessionOnDemand { () throws(TrackerError) in try KafkaSession(configuration, logger: logger) }
    }

    /// Lets librdkafka check its properties, and checks the addresses of the brokers and the names of the topics.
    ///
    /// Files that properties name are not read.
    ///
    /// - Throws: `invalidSettings` for a property that librdkafka does not accept, in its words, for an address
    ///   without a valid port, and for a name that no topic can have.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try ProducerSettings(configuration).check()
        _ = try TopicName(pattern: configuration.topic).topics(of: catalog, tracker: name)
    }

    /// Connects, and asks for every topic that the catalog's events need.
    ///
    /// A single missing topic is logged, and its events are retried with each delivery; with `requiresEveryTopic` it is
    /// an error.
    ///
    /// - Throws: `notPrepared` if none of the topics exists; `misconfigured` if the brokers reject the login, or if
    ///   librdkafka rejects the settings, for example because it cannot read a file; `unavailable`, retryable, if no
    ///   broker answers or the system refuses a thread; and what `checkSettings` throws.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(ofStartingFor: catalog, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        for problem in try result.get() {
            logger.warning(
                "A topic accepts no messages; its events will be retried, and all others are delivered.",
                metadata: ["tracker": "\(name)", "error": "\(problem)"]
            )
        }
        logger.debug("Kafka takes the plan's events", metadata: ["topic": "\(configuration.topic)"])
    }

    /// Asks for every topic that the catalog's events need, without creating any.
    ///
    /// Does not check whether the user may write to a topic, because only a write shows that.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        let session: KafkaSession
        do throws(TrackerError) { session = try self.session.get() } catch { return [error] }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.problems(for: pipeline.catalog, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Writes the events, and returns when every one of them is acknowledged or has failed.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: KafkaSession
        do throws(TrackerError) { session = try self.session.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.deliver(delivery, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Closes the connections; by then no message is in flight.
    public func stop() async {
        await session.ifMade?.close()
    }

    /// Makes the producer fail as after a fatal error of the brokers; for tests of what follows.
    package func raiseFatalError() async {
        await session.ifMade?.raiseFatalError()
    }
}

extension Tracker where Self == KafkaTracker {
    /// A tracker that writes a message for each event.
    ///
    /// - Parameters:
    ///   - brokers: The bootstrap servers, as `host:port,host:port`.
    ///   - name: The name that refers to the tracker in the plan. Default: `kafka`.
    ///   - topic: The topic; `{event}` is replaced by the event's name. Default: `events`.
    ///   - logger: Logs topics that accept no messages, and what librdkafka reports.
    /// - Returns: A tracker to give to a pipeline; it connects when the pipeline starts it.
    public static func kafka(
        _ brokers: String,
        name: String = KafkaConfiguration.defaultName,
        topic: String = KafkaConfiguration.defaultTopic,
        logger: Logger = Logger(label: "sluice")
    ) -> KafkaTracker {
        KafkaTracker(KafkaConfiguration(brokers: brokers, name: name, topic: topic), logger: logger)
    }
}

extension KafkaSession {
    /// `start` as a value, because the cancellation handler does not pass typed errors on.
    fileprivate func result(
        ofStartingFor catalog: EventCatalog,
        _ interrupt: Interrupt
    ) -> Result<[TrackerError], TrackerError> {
        Result { () throws(TrackerError) in try start(for: catalog, interrupt) }
    }
}
