import EventPipeline
import EventSchema
import Logging

/// One producer, on a thread of its own: whatever blocks, blocks there.
///
/// The producer is made when it is needed, and made anew after an error that is fatal to it.
actor KafkaSession {
    private let configuration: KafkaConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private var producer: KafkaProducer?
    private var routes: EventRoutes?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` where there is no thread to be had.
    init(_ configuration: KafkaConfiguration, logger: Logger) throws(TrackerError) {
        thread = try BlockingThread()
        self.configuration = configuration
        self.logger = logger
    }

    /// Looks whether a broker answers and every topic is there that the catalog's events need.
    func start(for catalog: EventCatalog, _ interrupt: Interrupt) throws(TrackerError) {
        let (producer, routes) = try readyProducer()
        let names = try routes.topicNames(of: catalog, tracker: configuration.name)
        let check = TopicCheck(producer, interrupt, timeout: configuration.startTimeout)
        if names.isEmpty { try check.run(nil, brokers: configuration.brokers) }
        for name in names { try check.run(name, brokers: configuration.brokers) }
    }

    /// Writes the events, and says what became of each.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        guard !interrupt.isRaised else { return .retry(TrackerError(KafkaFailure(.purged))) }
        do throws(TrackerError) {
            let (producer, routes) = try readyProducer()
            var settlement = DeliverySettlement(delivery)
            settlement.settle(producer, routes, interrupt)
            if settlement.needsNewProducer || producer.fatalFailure != nil { close() }
            return settlement.outcome
        } catch {
            return .retry(error)
        }
    }

    /// Ends the producer; a later call begins another.
    func close() {
        routes = nil
        producer?.close()
        producer = nil
    }

    func raiseFatalError() {
        producer?.raiseFatalError()
    }

    private func readyProducer() throws(TrackerError) -> (KafkaProducer, EventRoutes) {
        if let producer, let routes { return (producer, routes) }
        let settings = try ProducerSettings(configuration)
        let producer = try KafkaProducer(settings, source: configuration.source, logger: logger)
        let routes = EventRoutes(producer, topic: configuration.topic)
        self.producer = producer
        self.routes = routes
        return (producer, routes)
    }
}
