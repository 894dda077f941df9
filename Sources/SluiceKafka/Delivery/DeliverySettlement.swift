import TrackerKit

/// Determines the outcome of each event of a delivery, in several attempts.
///
/// A broker that rejects a request does not say which of its messages caused that. So the messages of a rejected
/// request are bisected and sent again, until the messages that are rejected on their own are known and the others are
/// delivered.
struct DeliverySettlement {
    private let delivery: Delivery
    private var refusals: [DeliveryOutcome.Refusal] = []
    private var retries: [(position: Int, failure: KafkaFailure)] = []
    /// The failure of the message that failed first, and its position.
    private var first: (position: Int, failure: KafkaFailure)?

    init(_ delivery: Delivery) {
        self.delivery = delivery
    }

    /// The outcome for the pipeline; `names` gives the topics for the reasons.
    func outcome(_ names: TopicName) -> DeliveryOutcome {
        let retry = first.map { position, failure in
            DeliveryOutcome.Retry(
                positions: retries.map(\.position).sorted(),
                reason: error(failure, at: position, names),
                stuck: stuck(names)
            )
        }
        return DeliveryOutcome(refusals: refusals.sorted { $0.position < $1.position }, retry: retry)
    }

    /// How many events of a name have to fail, and none to be delivered, before the name counts as broken.
    private static let samples = 4

    /// The events of each name that were not delivered although others were; none if the producer itself or the caller is the reason.
    private func stuck(_ names: TopicName) -> [DeliveryOutcome.Stuck] {
        let failures = Dictionary(retries, uniquingKeysWith: { first, _ in first })
        let failed = failures.keys.sorted()
        let isOfProducer = failures.values.contains { [.fatal, .cancelled].contains(KafkaErrorClass($0.code)) }
        guard !isOfProducer, failed.count + refusals.count < delivery.count else { return [] }
        let all = Dictionary(uniqueKeysWithValues: delivery.positionsByName().map { ($0.name, $0.positions.count) })
        return delivery.positionsByName(of: failed).compactMap { name, positions in
            guard let failure = positions.first.flatMap({ failures[$0] }) else { return nil }
            return DeliveryOutcome.Stuck(
                positions: positions,
                reason: error(failure, at: positions[0], names),
                isWholeName: KafkaErrorClass.isOfTopic(failure.code)
                    || positions.count == all[name] && positions.count >= Self.samples
            )
        }
    }

    private func error(_ failure: KafkaFailure, at position: Int, _ names: TopicName) -> TrackerError {
        TrackerError(failure, topic: try? names.topic(forEvent: delivery.name(at: position)))
    }

    /// Whether any event is left to a retry by the pipeline.
    var hasRetries: Bool { first != nil }

    /// Whether the producer has to be replaced: after a fatal error, or if it was denied access for every event and
    /// caches that.
    ///
    /// A single topic without write access is no reason, because messages to others were delivered.
    var needsNewProducer: Bool {
        let kind = first.map { KafkaErrorClass($0.failure.code) }
        return kind == .fatal || kind == .misconfigured && retries.count + refusals.count == delivery.count
    }

    /// Makes attempts until every event is delivered, refused, or left to a retry by the pipeline.
    mutating func settle(_ producer: KafkaProducer, _ routes: EventRoutes, _ interrupt: Interrupt) {
        var attempt = DeliveryAttempt(producer, interrupt)
        attempt.run(delivery, routes)
        var groups = Self.groups(of: take(attempt, positions: { $0 }, count: delivery.count))
        while let group = groups.popLast() {
            var attempt = DeliveryAttempt(producer, interrupt)
            attempt.run(delivery.selecting(group), routes)
            let suspects = take(attempt, positions: { group[$0] }, count: group.count)
            groups += Self.groups(of: suspects)
        }
        // After a fatal error the messages only say that they were purged.
        if let fatal = producer.fatalFailure { first?.failure = fatal }
    }

    /// Records the failures of an attempt, and returns the positions that were rejected together.
    private mutating func take(_ attempt: DeliveryAttempt, positions: (Int) -> Int, count: Int) -> [Int] {
        var suspects: [Int] = []
        for failure in attempt.failures {
            let position = positions(failure.position)
            switch KafkaErrorClass(failure.code) {
            case .refused where failure.isShared && count > 1: suspects.append(position)
            case .refused: refuse(position, KafkaFailure(failure.code))
            default: retry(position, KafkaFailure(failure.code))
            }
        }
        if let rest = attempt.rest {
            for position in rest.start..<count { retry(positions(position), rest.failure) }
        }
        return suspects.sorted()
    }

    /// The two halves in reverse order, because the last element is sent first.
    private static func groups(of suspects: [Int]) -> [[Int]] {
        guard suspects.count > 1 else { return suspects.isEmpty ? [] : [suspects] }
        let half = suspects.count / 2
        return [Array(suspects[half...]), Array(suspects[..<half])]
    }

    private mutating func refuse(_ position: Int, _ failure: KafkaFailure) {
        refusals.append(.init(position: position, reason: "Kafka refuses the message: \(failure)."))
    }

    private mutating func retry(_ position: Int, _ failure: KafkaFailure) {
        retries.append((position, failure))
        // The first failure is the cause; the others can be effects of a cancellation or of a fatal error.
        if first == nil { first = (position, failure) }
    }
}
