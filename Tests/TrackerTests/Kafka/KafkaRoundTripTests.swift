import EventModel
import EventValidation
import SluiceKafka
import SluiceTesting
import TestSupport
import Testing
import TrackerKit

@Suite(.timeLimit(.minutes(5))) struct KafkaRoundTripTests {
    @Test("a message's value is the canonical line, and its headers are those of CloudEvents")
    func message() async throws {
        let cluster = try MockKafkaCluster()
        let delivery = KafkaEvents.delivery(1, from: 5)
        let event = try #require(delivery.first { _ in true })
        let outcome = try await cluster.withTracker { await $0.deliver(delivery) }
        #expect(outcome.isDelivered)

        let messages = try await cluster.messages(in: "events")
        let message = try #require(messages.first)
        #expect(messages.count == 1)
        #expect(message.value == event.json)
        #expect(message.key == "user-5")
        #expect(
            message.headers == [
                .init(name: "ce_specversion", value: "1.0"),
                .init(name: "ce_id", value: event.id.description),
                .init(name: "ce_source", value: "sluice"),
                .init(name: "ce_type", value: event.name),
                .init(name: "ce_time", value: event.time.description),
                .init(name: "content-type", value: "application/json"),
            ]
        )
    }

    @Test(
        "the key is the user's id, else the anonymous id, else the event's id",
        arguments: [
            (#","userId":"u-1","anonymousId":"a-1","sessionId":"s-1""#, "u-1"),
            (#","anonymousId":"a-1","sessionId":"s-1""#, "a-1"),
            (#","sessionId":"s-1""#, "00000000-0000-0000-0000-000000000007"),
            (#","userId":"Zo\u00eb \"Z\" \ud83d\ude42""#, #"Zoë "Z" 🙂"#),
            (#","context":{"userId":"not me"}"#, "00000000-0000-0000-0000-000000000007"),
        ]
    )
    func key(fields: String, key: String) async throws {
        let cluster = try MockKafkaCluster()
        let batch = KafkaEvents.batch(number: 7, fields: fields)
        let outcome = try await cluster.withTracker { await $0.deliver(Delivery([EventSlice(batch)])) }
        #expect(outcome.isDelivered)
        #expect(try await cluster.messages(in: "events").map(\.key) == [key])
    }

    @Test(
        "a valid traceparent in the context is a header of the message if that is asked for",
        arguments: [true, false]
    )
    func traceparent(isSent: Bool) async throws {
        let cluster = try MockKafkaCluster()
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let contexts = [#"{"a":1,"traceparent":"\#(valid)"}"#, #"{"traceparent":"invalid"}"#, "{}"]
        try await cluster.withTracker(sendsTraceparent: isSent) { tracker in
            // Twice, so that lists of headers are used again.
            for number in 0..<6 {
                let batch = KafkaEvents.batch(number: number, fields: #","context":"# + contexts[number % 3])
                #expect(await tracker.deliver(Delivery([EventSlice(batch)])).isDelivered)
            }
        }
        let messages = try await cluster.messages(in: "events").sorted {
            ($0.header("ce_id") ?? "") < ($1.header("ce_id") ?? "")
        }
        let expected = [isSent ? valid : nil, nil, nil]
        #expect(messages.map { $0.header("traceparent") } == expected + expected)
        #expect(messages.map(\.headers.count) == (expected + expected).map { $0 == nil ? 6 : 7 })
    }

    /// If this fails with another version of librdkafka, the tracker creates new headers for each message.
    @Test("librdkafka gives each header list its own copy of the values, so that they can be overwritten")
    func headerValuesAreCopied() {
        #expect(HeaderPool.canOverwriteValues())
    }

    @Test("reused header lists contain the values of the current event")
    func headersUsedAgain() async throws {
        let cluster = try MockKafkaCluster()
        let deliveries = (0..<6).map { KafkaEvents.delivery(400, from: $0 * 400) }
        try await cluster.withTracker { tracker in
            for delivery in deliveries { #expect(await tracker.deliver(delivery).isDelivered) }
        }
        let messages = try await cluster.messages(in: "events")
        let events = Dictionary(uniqueKeysWithValues: deliveries.flatMap { $0 }.map { ($0.id.description, $0) })
        #expect(messages.count == 2400)
        for message in messages {
            let event = try #require(events[message.header("ce_id") ?? ""])
            #expect(message.value == event.json)
            #expect(message.header("ce_type") == event.name)
            #expect(message.header("ce_time") == event.time.description)
        }
    }

    @Test("events of two catalogs in one delivery each get the type from their own catalog")
    func twoCatalogs() async throws {
        let cluster = try MockKafkaCluster()
        let other = EventCatalog.scripted(["Order Placed": ["kafka"], KafkaEvents.bought: ["kafka"]])
        let slices = (0..<20).map { number in
            let event = ScriptedEvent(KafkaEvents.bought, number: number)
            return EventSlice(.scripted(catalog: number % 2 == 0 ? KafkaEvents.catalog : other, events: [event]))
        }
        try await cluster.withTracker { #expect(await $0.deliver(Delivery(slices)).isDelivered) }
        let messages = try await cluster.messages(in: "events")
        #expect(messages.count == 20)
        #expect(Set(messages.map { $0.header("ce_type") }) == [KafkaEvents.bought])
    }

    @Test("each event gets a topic of its own if the topic setting contains a placeholder")
    func topicForEachEvent() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker(topic: "shop.{event}") { tracker in
            #expect(await tracker.deliver(KafkaEvents.delivery(30)).isDelivered)
        }
        let bought = try await cluster.messages(in: "shop.item_purchased")
        let returned = try await cluster.messages(in: "shop.item_returned")
        #expect(bought.count == 20)
        #expect(bought.allSatisfy { $0.header("ce_type") == KafkaEvents.bought })
        #expect(returned.count == 10)
        #expect(returned.allSatisfy { $0.header("ce_type") == KafkaEvents.returned })
    }

    @Test("the events of one user are in one partition, in the order in which they were delivered")
    func order() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker { tracker in
            for first in stride(from: 0, to: 3000, by: 1000) {
                #expect(await tracker.deliver(KafkaEvents.delivery(1000, from: first)).isDelivered)
            }
        }
        let messages = try await cluster.messages(in: "events")
        for user in Set(messages.map(\.key)) {
            let own = messages.filter { $0.key == user }
            #expect(Set(own.map(\.partition)).count == 1)
            #expect(own.map { $0.header("ce_id") ?? "" } == own.map { $0.header("ce_id") ?? "" }.sorted())
        }
    }

    @Test("100,000 events each arrive exactly once")
    func manyEvents() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 16)
        try await cluster.withTracker { tracker in
            for first in stride(from: 0, to: 100_000, by: 10_000) {
                let users = (first..<first + 10_000).map { number in
                    var event = ScriptedEvent(KafkaEvents.bought, number: number)
                    event.userID = "\(number)"
                    return event
                }
                let delivery = Delivery([EventSlice(KafkaEvents.batch(users))])
                #expect(await tracker.deliver(delivery).isDelivered)
            }
        }
        let numbers = try await cluster.numbers()
        #expect(numbers.count == 100_000)
        #expect(numbers.sorted() == Array(0..<100_000))
    }

    @Test("a batch is released once it is delivered")
    func memory() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker { tracker in
            weak var batch: EventBatch?
            do {
                let delivery = KafkaEvents.delivery(1000)
                batch = delivery.slices.first?.batch
                #expect(batch != nil)
                #expect(await tracker.deliver(delivery).isDelivered)
            }
            #expect(batch == nil)
        }
    }
}

extension DeliveryOutcome {
    /// Whether nothing was refused or parked, and nothing must be retried.
    var isDelivered: Bool { refusals.isEmpty && parked.isEmpty && retry == nil }
}
