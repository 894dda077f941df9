import CLibRDKafka
import EventModel
import EventValidation
import TrackerKit

/// One pass of messages through librdkafka: enqueues all, then waits for all delivery reports.
///
/// Even when interrupted, it does not return before librdkafka has reported every message, because the messages point
/// into the batches.
struct DeliveryAttempt {
    /// An event that was not delivered, and why.
    struct Failure {
        let position: Int
        let code: rd_kafka_resp_err_t
        /// Whether a broker reported the error, for a whole request, and not librdkafka for this message alone.
        let isShared: Bool
    }

    /// The maximum number of messages in flight while the brokers keep up: more would not stay in the processor's
    /// cache, and each would cost half as much again.
    private static let smallestWindowInMessages = 1400
    /// How many milliseconds a full window waits for a report before it doubles, for brokers with a high latency.
    private static let patience: Int32 = 2
    /// How many messages are enqueued between two polls for reports.
    private static let stride = 64
    /// The maximum delay, in milliseconds, until an interrupt is noticed while nothing happens.
    private static let wait: Int32 = 50

    private let producer: KafkaProducer
    private let interrupt: Interrupt
    private var windowInMessages = Self.smallestWindowInMessages

    /// The events that were not delivered, in no particular order.
    private(set) var failures: [Failure] = []
    /// The position from which on nothing was enqueued, and why.
    private(set) var rest: (start: Int, failure: KafkaFailure)?

    init(_ producer: KafkaProducer, _ interrupt: Interrupt) {
        self.producer = producer
        self.interrupt = interrupt
    }

    /// Runs the attempt.
    mutating func run(_ delivery: Delivery, _ routes: EventRoutes) {
        withExtendedLifetime(delivery) {
            var position = 0
            for slice in delivery.slices {
                guard rest == nil else { break }
                if !routes.know(slice.batch.catalog) {
                    waitForReports()  // of messages whose headers are those of the other catalog
                    routes.learn(slice.batch.catalog)
                }
                send(slice, at: position, routes)
                position += slice.count
            }
            waitForReports()
        }
    }

    private mutating func send(_ slice: EventSlice, at start: Int, _ routes: EventRoutes) {
        let timestamp = Timestamp.now().milliseconds
        let batch = slice.batch
        for index in 0..<slice.count {
            let position = start + index
            if index % Self.stride == 0, !hasRoom() { return stop(at: position, RD_KAFKA_RESP_ERR__PURGE_QUEUE) }
            let batchIndex = slice.batchIndex(at: index)
            let definition = Int(batch.entries[batchIndex].definitionIndex)
            guard let line = CanonicalLine(batch.line(at: batchIndex)) else {
                failures.append(.init(position: position, code: RD_KAFKA_RESP_ERR_INVALID_RECORD, isShared: false))
                continue
            }
            do throws(KafkaFailure) {
                let topic = try routes.topic(of: definition)
                let record = KafkaRecord(
                    line: line,
                    definition: definition,
                    timestamp: timestamp,
                    sendsTraceparent: producer.sendsTraceparent
                )
                send(record, to: topic, at: position)
            } catch {
                take(error, at: position)
            }
            guard rest == nil else { return }
        }
    }

    private mutating func send(_ record: KafkaRecord, to topic: ProducerTopic, at position: Int) {
        while true {
            let code = producer.send(record, to: topic, position: position)
            switch code {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                return
            case RD_KAFKA_RESP_ERR__QUEUE_FULL where producer.outstanding > 0:
                serve(within: Self.wait)
                if interrupt.isRaised { return stop(at: position, RD_KAFKA_RESP_ERR__PURGE_QUEUE) }
            default:
                return take(KafkaFailure(code), at: position)
            }
        }
    }

    /// Records why a message was not enqueued: an error of the message or of its topic does not stop the others.
    private mutating func take(_ failure: KafkaFailure, at position: Int) {
        if KafkaErrorClass(failure.code) == .refused || KafkaErrorClass.isOfTopic(failure.code) {
            failures.append(.init(position: position, code: failure.code, isShared: false))
        } else {
            rest = (position, producer.fatalFailure ?? failure)
        }
    }

    /// Handles pending reports, and waits while the window is full; returns `false` after an interrupt.
    private mutating func hasRoom() -> Bool {
        while serve(within: 0) {}
        while producer.outstanding >= windowInMessages, !interrupt.isRaised {
            if !serve(within: Self.patience) { windowInMessages *= 2 }
        }
        return !interrupt.isRaised
    }

    private mutating func stop(at position: Int, _ code: rd_kafka_resp_err_t) {
        rest = (position, producer.fatalFailure ?? KafkaFailure(code))
    }

    private mutating func waitForReports() {
        while producer.outstanding > 0 {
            // Repeatedly, because a purge misses a message that is on its way to a partition's queue.
            if interrupt.isRaised { producer.purge() }
            serve(within: Self.wait)
        }
    }

    @discardableResult
    private mutating func serve(within milliseconds: Int32) -> Bool {
        producer.serve(within: milliseconds) { position, code in
            failures.append(.init(position: position, code: code, isShared: true))
        }
    }
}
