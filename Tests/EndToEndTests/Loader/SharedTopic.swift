import Foundation
import TestSupport

/// A topic that loaders read: in a mock cluster of its own, or at real brokers.
struct SharedTopic: Sendable {
    let brokers: String
    let name: String
    let partitions: Int32
    /// librdkafka's properties for every client, such as credentials.
    let properties: [String: String]
    /// `nil` if the brokers are real.
    let mock: MockKafkaCluster?

    /// How long a member of the group may be silent until it is evicted.
    ///
    /// Real brokers accept no less than 6 s. The mock cluster needs a second less than this time for each rebalance, even if all
    /// members have joined; it lets a new group's members wait for 3 s, and would evict them meanwhile if the time were less.
    var sessionTimeout: Duration { mock == nil ? .seconds(6) : .seconds(4) }

    /// The properties of a loader, with short times, so that the group notices soon what happens to its members.
    var groupProperties: [String: String] {
        let milliseconds = Int(sessionTimeout / .milliseconds(1))
        return [
            "session.timeout.ms": "\(milliseconds)", "heartbeat.interval.ms": "\(milliseconds / 10)",
            "reconnect.backoff.max.ms": "500",
        ]
    }

    var url: String { "kafka://\(brokers)/\(name)" }

    /// Creates a topic in a new mock cluster.
    init(partitions: Int32, brokerCount: Int32 = 3) throws {
        let mock = try MockKafkaCluster(brokers: brokerCount)
        name = "shared"
        try mock.makeTopic(name, partitions: partitions)
        self.mock = mock
        self.partitions = partitions
        brokers = mock.bootstrapServers
        properties = [:]
    }

    /// Creates a topic at real brokers, or takes an empty one that exists.
    init(brokers: String, existing: String?, partitions: Int32, properties: [String: String]) async throws {
        name = existing ?? "sluice-scale-\(UUID().uuidString.lowercased())"
        self.brokers = brokers
        self.properties = properties
        mock = nil
        if existing == nil {
            try await KafkaAdministration(brokers: brokers, properties: properties)
                .makeTopic(name, partitions: partitions)
        }
        self.partitions = try await KafkaReader(brokers: brokers, properties: properties).partitionCount(of: name)
    }

    func writer() throws -> KafkaWriter { try KafkaWriter(brokers: brokers, topic: name, properties: properties) }

    func reader() throws -> KafkaReader { try KafkaReader(brokers: brokers, properties: properties) }

    /// All records, read by a client of its own.
    func messages() async throws -> [KafkaMessage] { try await reader().messages(in: [name]) }
}
