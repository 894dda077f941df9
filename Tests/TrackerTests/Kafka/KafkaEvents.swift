import EventModel
import EventValidation
import Logging
import SluiceKafka
import SluiceTesting
import TestSupport
import TrackerKit

/// A plan and events for the Kafka tracker.
enum KafkaEvents {
    static let bought = "Item Purchased"
    static let returned = "Item Returned"

    static let catalog = EventCatalog.scripted([bought: ["kafka"], returned: ["Kafka"]])

    /// A batch of `count` events whose ids are the numbers from `first` on; ten users take turns.
    static func batch(_ count: Int, from first: Int = 0, payloadLength: Int = 40) -> EventBatch {
        batch(
            (first..<first + count).map { number in
                var event = ScriptedEvent(number % 3 == 2 ? returned : bought, number: number)
                event.time = Timestamp(
                    microseconds: 1_700_000_000_123_456 + Int64(number),
                    fractionDigits: UInt8(number % 7)
                )
                event.userID = "user-\(number % 10)"
                event.payload = #"{"text":"\#(String(repeating: "x", count: payloadLength))"}"#
                return event
            }
        )
    }

    static func batch(_ events: [ScriptedEvent]) -> EventBatch {
        .scripted(catalog: catalog, events: events)
    }

    static func delivery(_ count: Int, from first: Int = 0) -> Delivery {
        Delivery([EventSlice(batch(count, from: first))])
    }

    /// A batch of one event with these fields, in canonical order, between `receivedAt` and `payload`.
    static func batch(number: Int, fields: String) -> EventBatch {
        var event = ScriptedEvent(bought, number: number)
        event.payload = "{}"
        let line = event.canonicalJSON.replacing(#","payload":{}}"#, with: "\(fields),\"payload\":{}}") + "\n"
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: line.utf8.count, alignment: 1)
        storage.copyBytes(from: line.utf8)
        let end = UInt32(truncatingIfNeeded: line.utf8.count)
        return EventBatch(
            catalog: catalog,
            entries: [.init(id: event.id, time: event.time, definitionIndex: 0, end: end)],
            adopting: UnsafeRawBufferPointer(storage)
        )
    }
}

extension MockKafkaCluster {
    /// A tracker that writes to this cluster.
    func tracker(
        topic: String = "events",
        sendsTraceparent: Bool = false,
        _ properties: [String: String] = [:],
        logger: Logger = .quiet
    ) -> KafkaTracker {
        let configuration = KafkaConfiguration(
            brokers: bootstrapServers,
            topic: topic,
            sendsTraceparent: sendsTraceparent,
            startTimeout: .seconds(5),
            properties: properties
        )
        return KafkaTracker(configuration, logger: logger)
    }

    /// Starts a tracker, and stops it afterwards even if `body` throws.
    func withTracker<Result>(
        topic: String = "events",
        sendsTraceparent: Bool = false,
        _ properties: [String: String] = [:],
        logger: Logger = .quiet,
        _ body: (KafkaTracker) async throws -> Result
    ) async throws -> Result {
        let tracker = tracker(topic: topic, sendsTraceparent: sendsTraceparent, properties, logger: logger)
        do {
            try await tracker.start(for: KafkaEvents.catalog)
            let result = try await body(tracker)
            await tracker.stop()
            return result
        } catch {
            await tracker.stop()
            throw error
        }
    }

    /// The numbers in the ids of all messages.
    func numbers(in topic: String = "events") async throws -> [Int] {
        try await messages(in: topic).compactMap { $0.header("ce_id").flatMap { EventID($0) } }
            .map { Int(truncatingIfNeeded: $0.low) }
    }
}

extension Logger {
    /// A logger that discards everything.
    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
