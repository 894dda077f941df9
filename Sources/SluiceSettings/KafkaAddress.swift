import SluiceKafka
import TrackerKit

/// A topic of a Kafka cluster, as `kafka://host:port,host:port/topic`.
struct KafkaAddress {
    /// The bootstrap servers, as `host:port,host:port`.
    let brokers: String
    let topic: String

    /// Why a text is not such an address.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private static let scheme = "kafka://"

    /// Parses an address; whether the brokers' ports are valid is checked with the other settings of Kafka.
    init(_ text: String) throws(Problem) {
        guard text.hasPrefix(Self.scheme), let slash = text.dropFirst(Self.scheme.count).firstIndex(of: "/") else {
            throw Problem(description: "expected \(Self.scheme)host:port,host:port/topic, found '\(text)'")
        }
        let brokers = text[..<slash].dropFirst(Self.scheme.count)
        let topic = String(text[text.index(after: slash)...])
        guard !brokers.isEmpty else { throw Problem(description: "the address names no broker: '\(text)'") }
        guard !TopicName(pattern: topic).dependsOnEvent else {
            let sentence = "one topic gets all events, so '\(TopicName.placeholder)' cannot be part of its name"
            throw Problem(description: sentence)
        }
        do throws(TrackerError) {
            self.topic = try TopicName(pattern: topic).topic(forEvent: "")
        } catch {
            throw Problem(description: error.message)
        }
        self.brokers = String(brokers)
    }
}
