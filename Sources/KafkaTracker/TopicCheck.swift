import EventPipeline

/// Waits until the brokers answer for a topic, as long as the tracker's start may take.
struct TopicCheck {
    /// How long a topic may take to appear that the brokers make by themselves.
    private static let creationTimeout: Duration = .seconds(3)

    private let producer: KafkaProducer
    private let interrupt: Interrupt
    private let start = ContinuousClock.now
    private let timeout: Duration

    init(_ producer: KafkaProducer, _ interrupt: Interrupt, timeout: Duration) {
        self.producer = producer
        self.interrupt = interrupt
        self.timeout = timeout
    }

    /// Waits for a topic, or without one for any broker.
    func run(_ name: String?, brokers: String) throws(TrackerError) {
        let asked = ContinuousClock.now
        // Short at first, so that an interruption is seen; longer for brokers that are slow to answer.
        var patience: Duration = .milliseconds(200)
        while true {
            let failure: KafkaFailure
            do throws(KafkaFailure) {
                return try ask(name, patience)
            } catch {
                failure = error
            }
            patience = min(patience * 2, .seconds(2))
            let now = ContinuousClock.now
            let kind = KafkaErrorClass(failure.code)
            if interrupt.isRaised { throw TrackerError(KafkaFailure(.purged)) }
            if kind == .misconfigured { throw .misconfigured("Kafka does not let us in: \(failure).") }
            if kind == .notPrepared, now >= min(start + timeout, asked + Self.creationTimeout) {
                throw .missingTopic(name ?? "")
            }
            if now >= start + timeout { throw .noBroker(brokers, failure, log: producer.lastLoggedError) }
            _ = producer.serve(within: 100) { _, _ in }  // a pause: nothing is outstanding
        }
    }

    private func ask(_ name: String?, _ patience: Duration) throws(KafkaFailure) {
        let remaining = timeout - (ContinuousClock.now - start)
        let milliseconds = Int32(max(1, min(patience, remaining) / .milliseconds(1)))
        try producer.check(
            name.map { name throws(KafkaFailure) in try producer.topic(named: name) },
            within: milliseconds
        )
    }
}

extension TrackerError {
    fileprivate static func missingTopic(_ name: String) -> TrackerError {
        TrackerError(
            code: .notPrepared,
            message: "Kafka has no topic '\(name)' and makes none by itself; create it, or set another topic.",
            isRetryable: false
        )
    }

    fileprivate static func noBroker(_ brokers: String, _ failure: KafkaFailure, log: String?) -> TrackerError {
        let said = log.map { "\(failure); librdkafka's log says: \($0)" } ?? failure.description
        return TrackerError(
            code: .unavailable,
            message: "No Kafka broker of '\(brokers)' answers: \(said)",
            isRetryable: true
        )
    }
}
