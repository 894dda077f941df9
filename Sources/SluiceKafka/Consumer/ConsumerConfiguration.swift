import CLibRDKafka
package import TrackerKit

/// The topic that a consumer reads, and its consumer group.
package struct ConsumerConfiguration: Sendable {
    /// The bootstrap servers, as `host:port,host:port`.
    package var brokers: String
    package var topic: String
    package var group: String
    /// librdkafka's configuration properties, which override `defaults`; those that the loader sets itself are refused.
    package var properties: [String: String]
    /// Reads those properties again that can change while the process runs; see `KafkaConfiguration`.
    ///
    /// Of these, a consumer uses a new `sasl.username` and `sasl.password` for its next connections.
    package var readChangingProperties: (@Sendable () throws -> [String: String])?

    package init(
        brokers: String,
        topic: String,
        group: String,
        properties: [String: String] = [:],
        readChangingProperties: (@Sendable () throws -> [String: String])? = nil
    ) {
        self.brokers = brokers
        self.topic = topic
        self.group = group
        self.properties = properties
        self.readChangingProperties = readChangingProperties
    }

    /// The properties whose defaults differ from librdkafka's.
    private static let defaults = [
        "client.id": "sluice",
        // Records of aborted transactions were never written.
        "isolation.level": "read_committed",
        // For each partition, because the buffers of all of them count towards the memory of the process. librdkafka before 2.2.0 may
        // wait a second before it fetches again once they are full (fetch.queue.backoff.ms), so they have to last that long.
        "queued.max.messages.kbytes": "8192",
        // A record keeps the answer in memory that contained it.
        "fetch.max.bytes": "16777216",
        // Requests for offsets wait behind a request for records on the same connection.
        "fetch.wait.max.ms": "100",
        // Requests for offsets are repeated within this time, also to a broker that does not answer.
        "socket.timeout.ms": "20000",
        // New partitions are noticed, and a topic that is made later.
        "topic.metadata.refresh.interval.ms": "30000",
    ]

    /// The properties that the loader depends on.
    private static let fixed = [
        "allow.auto.create.topics": "false",
        // Positions are set explicitly; a record that does not exist any more must be noticed.
        "auto.offset.reset": "error",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        // librdkafka 2.0.2 has faults in cooperative rebalancing (fixed in 2.1.0, 2.4.0 and 2.6.1, see its CHANGELOG).
        "partition.assignment.strategy": "range",
    ]

    /// Checks the settings without the network.
    ///
    /// - Throws: `invalidSettings` for a property that the loader sets itself, or that librdkafka does not know, and for invalid
    ///   addresses.
    package func check() throws(TrackerError) {
        rd_kafka_conf_destroy(try makeConfiguration())
    }

    /// Creates librdkafka's configuration object, which the caller passes to a client or destroys.
    ///
    /// - Throws: As `check`.
    func makeConfiguration() throws(TrackerError) -> OpaquePointer {
        let reserved = Self.fixed.keys + ["bootstrap.servers", "group.id"]
        if let name = reserved.sorted().first(where: { properties[$0] != nil }) {
            throw .invalidSettings("The property '\(name)' cannot be set here: the loader sets it itself.")
        }
        let merged = Self.defaults.merging(properties) { $1 }.merging(Self.fixed) { $1 }
        let ordered = merged.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        return try ProducerSettings.makeConfiguration(
            of: [("bootstrap.servers", try ProducerSettings.addresses(of: brokers)), ("group.id", group)] + ordered
        )
    }
}
