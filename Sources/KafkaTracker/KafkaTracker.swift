public import EventPipeline
public import Logging

/// Writes events to Kafka: a message for each, its value the canonical JSON, its headers those of CloudEvents.
///
/// The key is the user's id, else the anonymous id, else the event's id. The producer is idempotent and waits for all
/// replicas, so what is delivered is in the log, and a repetition by librdkafka is no duplicate. A repetition by the
/// pipeline is one: consumers tell by the header `ce_id`.
///
/// **Order.** Events of one key are written in the order of their deliveries, and librdkafka keeps that order through
/// its own retries. It is lost where a message times out or is refused and one behind it is delivered: the pipeline
/// brings the first again after the second. With `enable.idempotence=false`, librdkafka's own retries can reorder too.
///
/// **Refusal.** A message that is larger than `message.max.bytes` here, or that a broker refuses as too large or invalid,
/// is refused; the messages that shared its request go in. All other errors are retries.
///
/// **Topics.** `start` asks for every topic that the plan's events go to. Brokers that make topics by themselves make
/// them then; else a topic that is not there is an error that names it.
public final class KafkaTracker: Tracker {
    private let configuration: KafkaConfiguration
    private let session: SessionOnDemand<KafkaSession>
    private let logger: Logger

    /// The name by which the plan's events name it: that of the configuration.
    public var name: String { configuration.name }

    /// Makes a tracker; it connects when it starts.
    public init(_ configuration: KafkaConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        session = SessionOnDemand { () throws(TrackerError) in try KafkaSession(configuration, logger: logger) }
    }

    /// Connects, and looks whether every topic is there that the catalog's events need.
    ///
    /// - Throws: `misconfigured` for a property that librdkafka does not take, in its words, and for a name that no topic
    ///   can have; `notPrepared` for a topic that is not there; `unavailable`, retryable, where no broker or no thread
    ///   is to be had.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        let session = try session.get()
        let interrupt = Interrupt()
        let result = await withTaskCancellationHandler {
            await session.result(ofStartingFor: catalog, interrupt)
        } onCancel: {
            interrupt.raise()
        }
        try result.get()
        logger.debug("Kafka has every topic of the plan", metadata: ["topic": "\(configuration.topic)"])
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

    /// Closes the connections; nothing is outstanding by then.
    public func stop() async {
        await session.ifMade?.close()
    }

    /// Makes the producer fail as after a fatal error of the brokers; for tests of what follows.
    package func raiseFatalError() async {
        await session.ifMade?.raiseFatalError()
    }
}

extension KafkaSession {
    /// `start` as a value, because the cancellation handler does not pass typed errors on.
    fileprivate func result(
        ofStartingFor catalog: EventCatalog,
        _ interrupt: Interrupt
    ) -> Result<Void, TrackerError> {
        Result { () throws(TrackerError) in try start(for: catalog, interrupt) }
    }
}
