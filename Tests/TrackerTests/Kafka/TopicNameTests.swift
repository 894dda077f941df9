import SluiceKafka
import TestSupport
import Testing
import TrackerKit

@Suite struct TopicNameTests {
    @Test(
        "the topic contains the event's name in snake case",
        arguments: [
            ("events", "Item Purchased", "events"),
            ("{event}", "Item Purchased", "item_purchased"),
            ("sales.{event}.v1", "HTTPServer started", "sales.http_server_started.v1"),
            ("{event}-{event}", "A", "a-a"),
            ("{event}", "Zoë", "zo-ueb"),
            ("{event}", "日本", "-u65e5-u672c"),
        ]
    )
    func topic(pattern: String, event: String, topic: String) throws {
        #expect(try TopicName(pattern: pattern).topic(forEvent: event) == topic)
    }

    @Test(
        "a topic name that Kafka does not allow is an invalid setting",
        arguments: ["", ".", "..", "a b", "é", "{Event}", String(repeating: "a", count: 250)]
    )
    func refused(pattern: String) {
        let error = #expect(throws: TrackerError.self) { try TopicName(pattern: pattern).topic(forEvent: "E") }
        #expect(error?.code == .invalidSettings)
    }

    @Test("the longest topic name that Kafka allows is accepted")
    func longest() throws {
        let name = String(repeating: "a", count: 249)
        #expect(try TopicName(pattern: name).topic(forEvent: "E") == name)
    }
}
