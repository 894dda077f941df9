package import EventModel
package import SluiceKafka
package import TrackerKit

/// What a loader reads, and how.
package struct LoaderConfiguration: Sendable {
    /// Where a loader begins with a partition that has no position yet.
    package enum Start: Sendable, Hashable {
        /// At the first record that exists.
        case beginning
        /// At the first record that was written at or after this time.
        case since(Timestamp)
    }

    /// The loader's name; that of its consumer groups is the name, a dot and the tracker's name.
    package var name: String
    /// The bootstrap servers, as `host:port,host:port`.
    package var brokers: String
    package var topic: String
    /// librdkafka's configuration properties.
    package var properties: [String: String]
    /// Reads those properties again that can change while the process runs; see `KafkaConfiguration`.
    package var readChangingProperties: (@Sendable () throws -> [String: String])?
    /// The name under which the process is a static member of its consumer groups (KIP-345); `nil` for a dynamic member.
    package var instance: String?
    package var start = Start.beginning
    /// The name of the process, for operators.
    package var owner: String
    package var limits = LoadLimits()
    /// How many events each tracker gets at a time, by its name in lower case; others have the limits that they state themselves, or
    /// `limits`.
    package var deliveryByTracker: [String: DeliveryLimits] = [:]

    package init(name: String, brokers: String, topic: String, properties: [String: String] = [:], owner: String) {
        self.name = name
        self.brokers = brokers
        self.topic = topic
        self.properties = properties
        self.owner = owner
    }

    /// The limits of loading into one tracker.
    package func limits(of tracker: any Tracker) -> LoadLimits {
        var limits = limits
        let delivery = deliveryByTracker[tracker.name.lowercased()] ?? tracker.deliveryLimits
        if let delivery { limits.apply(delivery) }
        return limits
    }

    /// The consumer of the group for one tracker.
    package func consumer(forTracker tracker: String) -> ConsumerConfiguration {
        // A static member is expected back within librdkafka's default of 45 s. A dynamic member joins as another one after a restart, so
        // its partitions should not wait that long; an unnecessary rebalance costs seconds, and no record.
        let membership = instance.map { ["group.instance.id": $0] } ?? ["session.timeout.ms": "15000"]
        return ConsumerConfiguration(
            brokers: brokers,
            topic: topic,
            group: "\(name).\(tracker.lowercased())",
            properties: membership.merging(properties) { $1 },
            readChangingProperties: readChangingProperties
        )
    }
}
