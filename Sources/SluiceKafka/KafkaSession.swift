import EventValidation
import Logging
import TrackerKit

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

    /// Looks whether a broker answers, and which of the topics that the catalog's events need accept no messages.
    func start(for catalog: EventCatalog, _ interrupt: Interrupt) throws(TrackerError) -> [TrackerError] {
        let (producer, routes) = try readyProducer()
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
        if let reason = broken.first, configuration.requiresEveryTopic || broken.count == names.count {
            // librdkafka remembers what it was told of a topic.
            close()
            throw reason
        }
        return broken
    }

    /// Everything that keeps messages out, as far as it shows without writing; makes no topic.
    func problems(for catalog: EventCatalog, _ interrupt: Interrupt) -> [TrackerError] {
        do throws(TrackerError) {
            let names = try TopicName(pattern: configuration.topic).topics(of: catalog, tracker: configuration.name)
            let observer = try TopicObserver(configuration, logger: logger)
            let answer = observer.problems(of: names, configuration, interrupt)
            observer.close()
            return answer
        } catch {
            return [error]
        }
    }

    /// Writes the events, and says what became of each.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        guard !interrupt.isRaised else { return .retry(TrackerError(KafkaFailure(.purged))) }
        do throws(TrackerError) {
            let (producer, routes) = try readyProducer()
            producer.waitForPurges()
            var settlement = DeliverySettlement(delivery)
            settlement.settle(producer, routes, interrupt)
            if settlement.needsNewProducer || producer.fatalFailure != nil { close() }
            return settlement.outcome(routes.names)
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
