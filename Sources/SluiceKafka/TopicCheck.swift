import TrackerKit

/// Waits until the brokers answer for topics, as long as the tracker's start may take.
struct TopicCheck {
    /// How long a topic may take to appear that the brokers make by themselves.
    private static let creationTimeout: Duration = .seconds(3)

    private let interrupt: Interrupt
    private let timeout: Duration
    private let start = ContinuousClock.now
    /// Asks for a topic, or without a name whether a broker answers, for so many milliseconds.
    private let ask: (String?, Int32) throws(KafkaFailure) -> Void
    /// Waits a little before the next question.
    private let pause: () -> Void
    /// Whether topics may appear while they are waited for, because the question makes them.
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

    /// Asks for all topics, or for any broker where there are none; returns what is wrong with each that takes nothing.
    ///
    /// - Throws: the last failure, where no broker answers within the time.
    func run(_ names: [String]) throws(KafkaFailure) -> [TrackerError] {
        var broken: [TrackerError] = []
        // While one topic appears, so do the others.
        let limit = waitsForCreation ? min(timeout, Self.creationTimeout) : .zero
        for name in names.isEmpty ? [nil] : names.map(Optional.init) {
            if let failure = try answer(for: name, until: start + limit) {
                broken.append(TrackerError(failure, topic: name))
            }
        }
        return broken
    }

    /// Asks until the brokers have answered; returns what they have against the topic.
    private func answer(for name: String?, until limit: ContinuousClock.Instant) throws(KafkaFailure) -> KafkaFailure? {
        // Short at first, so that an interruption is seen; longer for brokers that are slow to answer.
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
    /// Why the brokers of these addresses gave no answer.
    ///
    /// `log` is librdkafka's last word, which says more than its error does.
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
