public import EventValidation
public import Logging
public import TrackerKit

/// Writes events to Kafka: a message for each, its value the canonical JSON, its headers those of CloudEvents.
///
/// The key is the user's id, else the anonymous id, else the event's id. The producer is idempotent and waits for all
/// replicas, so what is delivered is in the log, and a repetition by librdkafka is no duplicate. A repetition by the
/// pipeline is one: consumers tell by the header `ce_id`.
///
/// **Order.** Events of one key are written in the order of their deliveries, and librdkafka keeps that order through
/// its own retries. It is lost where a message fails (it times out after `message.timeout.ms`, a broker turns it down, or
/// the delivery is cancelled) and one behind it is delivered: the pipeline brings the first again after the second. It is
/// also lost when the topic gets more partitions, and with `enable.idempotence=false` in librdkafka's own retries.
///
/// **Refusal.** A message that is larger than `message.max.bytes` here, or that a broker refuses as too large or invalid,
/// is refused; the messages that shared its request go in. All other errors are retries. A timestamp that a broker does not
/// take is one of them, because it is this machine's clock and not the event's.
///
/// **Topics.** `start` asks for every topic that the plan's events go to. Brokers that make topics by themselves make
/// them then. A topic that accepts no messages does not keep those of the others out: its events have to be tried again, with
/// its name in the reason. librdkafka may wait for it for as long as `message.timeout.ms` says.
public final class KafkaTracker: CheckableTracker {
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

    /// Lets librdkafka check its properties, and checks the addresses of the brokers and the names of the topics.
    ///
    /// Files that properties name are not read.
    ///
    /// - Throws: `invalidSettings` for a property that librdkafka does not accept, in its words, for an address without a
    ///   valid port, and for a name that no topic can have.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try ProducerSettings(configuration).check()
        _ = try TopicName(pattern: configuration.topic).topics(of: catalog, tracker: name)
    }

    /// Connects, and asks for every topic that the catalog's events need.
    ///
    /// A single topic that is not there is logged, and its events are tried again with each delivery.
    ///
    /// With `requiresEveryTopic` it is an error.
    ///
    /// - Throws: `notPrepared` where none of the topics is there; `misconfigured` where the brokers do not let the user
    ///   in, and where librdkafka refuses the settings, as with a file that it cannot read; `unavailable`, retryable, where no broker answers, or the system refuses a thread; and what `checkSettings`
    ///   does.
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
                "A topic accepts no messages; its events have to wait, and the others are delivered.",
                metadata: ["tracker": "\(name)", "error": "\(problem)"]
            )
        }
        logger.debug("Kafka takes the plan's events", metadata: ["topic": "\(configuration.topic)"])
    }

    /// Asks for every topic that the catalog's events need, and makes none by asking.
    ///
    /// Whether the user may write to a topic shows only when something is written, so it is not checked.
    public func problems(for catalog: EventCatalog, usesJournal: Bool) async -> [TrackerError] {
        let session: KafkaSession
        do throws(TrackerError) { session = try self.session.get() } catch { return [error] }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.problems(for: catalog, interrupt)
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
    ) -> Result<[TrackerError], TrackerError> {
        Result { () throws(TrackerError) in try start(for: catalog, interrupt) }
    }
}
