import TrackerKit

/// What becomes of each event of a delivery, attempt by attempt.
///
/// A broker that refuses a request does not say which of its messages is to blame, so the messages of a refused request
/// are sent again in ever smaller groups, until those that are refused alone are known. The others go in.
struct DeliverySettlement {
    private let delivery: Delivery
    private var refusals: [DeliveryOutcome.Refusal] = []
    private var retries: [Int] = []
    private var reason: KafkaFailure?
    /// The position whose message failed first, for `reason`.
    private var firstPosition = 0

    init(_ delivery: Delivery) {
        self.delivery = delivery
    }

    /// What is to be told to the pipeline; `names` knows the topics.
    func outcome(_ names: TopicName) -> DeliveryOutcome {
        let retry = reason.map { failure in
            let event = delivery.selecting([firstPosition]).first { _ in true }
            let topic = event.flatMap { try? names.topic(forEvent: $0.name) }
            return DeliveryOutcome.Retry(positions: retries.sorted(), reason: TrackerError(failure, topic: topic))
        }
        return DeliveryOutcome(refusals: refusals.sorted { $0.position < $1.position }, retry: retry)
    }

    /// Whether the producer is of no more use: after a fatal error, or because it remembers that it was let in nowhere.
    ///
    /// One topic that it may not write to is no reason: the others were written.
    var needsNewProducer: Bool {
        let kind = reason.map { KafkaErrorClass($0.code) }
        return kind == .fatal || kind == .misconfigured && retries.count + refusals.count == delivery.count
    }

    /// Tries until every event is delivered, refused, or to be tried again by the pipeline.
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
        // What a fatal error leaves behind says that it was purged, which is not why.
        if reason != nil, let fatal = producer.fatalFailure { reason = fatal }
    }

    /// Notes what an attempt says, and returns the positions that share a refusal.
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

    /// Two groups of half the size, the first to be sent last in the array.
    private static func groups(of suspects: [Int]) -> [[Int]] {
        guard suspects.count > 1 else { return suspects.isEmpty ? [] : [suspects] }
        let half = suspects.count / 2
        return [Array(suspects[half...]), Array(suspects[..<half])]
    }

    private mutating func refuse(_ position: Int, _ failure: KafkaFailure) {
        refusals.append(.init(position: position, reason: "Kafka refuses the message: \(failure)."))
    }

    private mutating func retry(_ position: Int, _ failure: KafkaFailure) {
        retries.append(position)
        // The first reason is the cause; those after a cancellation or a fatal error are its effects.
        if reason == nil {
            reason = failure
            firstPosition = position
        }
    }
}
