import TrackerKit

/// Waits until the brokers answer for all topics, up to the timeout of the tracker's start.
struct TopicCheck {
    /// The timeout for a topic that the brokers create automatically.
    private static let creationTimeout: Duration = .seconds(3)

    private let interrupt: Interrupt
    private let timeout: Duration
    private let start = ContinuousClock.now
    /// Asks for a topic, or without a name whether any broker answers; the number is the timeout in milliseconds.
    private let ask: (String?, Int32) throws(KafkaFailure) -> Void
    /// Waits before the next request.
    private let pause: () -> Void
    /// Whether a request can create a topic, so that waiting for it makes sense.
    private let waitsForCreation: Bool

    init(
        _ interrupt: Interrupt,
        timeout: Duration,
        waitsForCreation: Bool = true,
        pause: @escaping () -> Void,
        ask: @escaping (String?, Int32) throws(KafkaFailure) -> Void
    ) {
        self.interrupt = interrupt
        self.timeout = timeout
        self.waitsForCreation = waitsForCreation
        self.pause = pause
        self.ask = ask
    }

    /// Asks for all topics, or for any broker if there are none; returns an error for each topic that accepts no
    /// messages.
    ///
    /// - Throws: The last failure, if no broker answers in time.
    func run(_ names: [String]) throws(KafkaFailure) -> [TrackerError] {
        var broken: [TrackerError] = []
        // All topics are created at the same time.
        let limit = waitsForCreation ? min(timeout, Self.creationTimeout) : .zero
        for name in names.isEmpty ? [nil] : names.map(Optional.init) {
            if let failure = try answer(for: name, until: start + limit) {
                broken.append(TrackerError(failure, topic: name))
            }
        }
        return broken
    }

    /// Asks until the brokers have answered; returns the error of the topic, if any.
    private func answer(for name: String?, until limit: ContinuousClock.Instant) throws(KafkaFailure) -> KafkaFailure? {
        // Short at first, so that an interrupt is noticed; longer for slow brokers.
        var patience: Duration = .milliseconds(200)
        while true {
            let failure: KafkaFailure
            do throws(KafkaFailure) {
                let remaining = timeout - (ContinuousClock.now - start)
                try ask(name, Int32(max(1, min(patience, remaining) / .milliseconds(1))))
                return nil
            } catch {
                failure = error
            }
            patience = min(patience * 2, .seconds(2))
            let now = ContinuousClock.now
            if interrupt.isRaised { throw KafkaFailure(.purged) }
            switch KafkaErrorClass(failure.code) {
            case .notPrepared where now >= limit: return failure
            case .misconfigured where KafkaErrorClass.isOfTopic(failure.code): return failure
            case .misconfigured: throw failure
            default: if now >= start + timeout { throw failure }
            }
            pause()
        }
    }
}

extension TrackerError {
    /// Creates the error for brokers that do not answer.
    ///
    /// `log` is the last error that librdkafka logged, which is more specific than the failure.
    init(_ failure: KafkaFailure, brokers: String, log: String?) {
        switch KafkaErrorClass(failure.code) {
        case .cancelled, .misconfigured:
            self.init(failure)
        default:
            let said = log.map { "\(failure); librdkafka's log says: \($0)" } ?? failure.description
            self.init(
                code: .unavailable,
                message: "No Kafka broker of '\(brokers)' answers: \(said)",
                isRetryable: true
            )
        }
    }
}
