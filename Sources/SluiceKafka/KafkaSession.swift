import EventValidation
import Logging
import TrackerKit

/// A producer, and the thread that its blocking calls run on.
///
/// The producer is created when it is first needed, and replaced after a fatal error, and after any failure if secrets that it was
/// created with were replaced since.
actor KafkaSession {
    private let configuration: KafkaConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private var producer: KafkaProducer?
    private var routes: EventRoutes?
    /// What the producer was created with.
    private var secrets: ClientSecrets?
    /// Whether the latest start or delivery failed, at least in part.
    private var hasFailed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Starts the thread.
    ///
    /// - Throws: `unavailable` if the system refuses a thread.
    init(_ configuration: KafkaConfiguration, logger: Logger) throws(TrackerError) {
        thread = try BlockingThread()
        self.configuration = configuration
        self.logger = logger
    }

    /// Checks that a broker answers, and that the topics of the catalog's events accept messages.
    ///
    /// Returns an error for each topic that does not.
    func start(for catalog: EventCatalog, _ interrupt: Interrupt) throws(TrackerError) -> [TrackerError] {
        let (producer, routes) = try readyProducer()
        hasFailed = true
        let names = try routes.names.topics(of: catalog, tracker: configuration.name)
        let check = TopicCheck(
            interrupt,
            timeout: configuration.startTimeout,
            pause: { _ = producer.serve(within: 100) { _, _ in } },  // nothing is outstanding
            ask: { name, milliseconds throws(KafkaFailure) in try producer.check(name, within: milliseconds) }
        )
        let broken: [TrackerError]
        do throws(KafkaFailure) {
            broken = try check.run(names)
        } catch {
            throw TrackerError(error, brokers: configuration.brokers, log: producer.lastLoggedError)
        }
        let needsAll = configuration.requiresEveryTopic || configuration.topicRequirement != .none
        if let reason = broken.first, needsAll || broken.count == names.count {
            // librdkafka caches the metadata of topics.
            close()
            throw reason
        }
        try checkGuarantees(of: names, producer, interrupt)
        hasFailed = false
        return broken
    }

    /// Checks what the topics' settings promise, if the configuration requires something; logs what is unknown.
    private func checkGuarantees(
        of topics: [String],
        _ producer: KafkaProducer,
        _ interrupt: Interrupt
    ) throws(TrackerError) {
        let requirement = configuration.topicRequirement
        guard requirement != .none else { return }
        for topic in topics {
            let guarantees = producer.guarantees(of: topic, timeout: configuration.startTimeout, interrupt)
            if let problem = guarantees.problem(with: topic, for: requirement) {
                // librdkafka caches the metadata of topics.
                close()
                throw problem
            }
            let unknowns = guarantees.unknowns(for: requirement)
            guard !unknowns.isEmpty else { continue }
            logger.warning(
                "The brokers do not say what the settings of a topic are, so nobody has checked what it promises.",
                metadata: [
                    "tracker": "\(configuration.name)", "topic": "\(topic)",
                    "settings": "\(unknowns.joined(separator: ", "))",
                ]
            )
        }
    }

    /// Every problem that can be found without writing a message or creating a topic.
    func problems(for catalog: EventCatalog, _ interrupt: Interrupt) -> [TrackerError] {
        do throws(TrackerError) {
            let configuration = try configuration.withCurrentProperties()
            let names = try TopicName(pattern: configuration.topic).topics(of: catalog, tracker: configuration.name)
            let observer = try TopicObserver(configuration, logger: logger)
            let answer = observer.problems(of: names, configuration, interrupt)
            observer.close()
            return answer
        } catch {
            return [error]
        }
    }

    /// How long the topics of the catalog's events keep messages.
    func retentions(for catalog: EventCatalog, _ interrupt: Interrupt) -> Result<[PlaceRetention], TrackerError> {
        do throws(TrackerError) {
            let configuration = try configuration.withCurrentProperties()
            let names = try TopicName(pattern: configuration.topic).topics(of: catalog, tracker: configuration.name)
            let observer = try TopicObserver(configuration, logger: logger)
            let answer = Result { () throws(TrackerError) in
                try observer.guarantees(of: names, configuration, interrupt)
            }
            observer.close()
            return .success(
                try answer.get().map { PlaceRetention(place: $0.name, duration: $0.guarantees.longestRetention) }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Writes the events, and returns the outcome of each.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        guard !interrupt.isRaised else { return .retry(TrackerError(KafkaFailure(.purged))) }
        do throws(TrackerError) {
            let (producer, routes) = try readyProducer()
            producer.waitForPurges()
            var settlement = DeliverySettlement(delivery)
            settlement.settle(producer, routes, interrupt)
            hasFailed = settlement.hasRetries
            if settlement.needsNewProducer || producer.fatalFailure != nil { close() }
            return settlement.outcome(routes.names)
        } catch {
            return .retry(error)
        }
    }

    /// Closes the producer; a later call creates another.
    func close() {
        routes = nil
        producer?.close()
        producer = nil
    }

    func raiseFatalError() {
        producer?.raiseFatalError()
    }

    private func readyProducer() throws(TrackerError) -> (KafkaProducer, EventRoutes) {
        // A client keeps its secrets, and a working one needs no others.
        let configuration = try producer == nil || hasFailed ? configuration.withCurrentProperties() : configuration
        if hasFailed, ClientSecrets(configuration.properties) != secrets { close() }
        if let producer, let routes { return (producer, routes) }
        secrets = ClientSecrets(configuration.properties)
        let settings = try ProducerSettings(configuration)
        let producer = try KafkaProducer(settings, configuration, logger: logger)
        let routes = EventRoutes(producer, topic: configuration.topic)
        self.producer = producer
        self.routes = routes
        return (producer, routes)
    }
}
