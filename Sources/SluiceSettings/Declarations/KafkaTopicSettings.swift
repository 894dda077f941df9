import EventPipeline
package import SettingDefinitions
import SluiceKafka

/// The Kafka topic that gets every event in place of the events' trackers.
struct RelaySettings: Configurable {
    static let defaults = RelaySettings()

    /// The name of the tracker that sends every event to the relay's topic.
    static let trackerName = "relay"

    var acknowledgement = Acknowledgement.journal
    var fallback = Fallback.refuse

    /// The values of `relay.acknowledge`.
    enum Acknowledgement: String, CaseIterable {
        case journal, brokers
    }

    /// The values of `relay.whenUnavailable`.
    enum Fallback: String, CaseIterable {
        case refuse, journal
    }

    /// When events for the relay are acknowledged.
    var policy: Pipeline.AcknowledgementPolicy {
        guard acknowledgement == .brokers else { return .stored }
        return fallback == .refuse ? .delivered : .deliveredIfAvailable
    }
}

/// The topic that `sluice load` reads.
package struct LoadSettings: Sendable {
    package var brokers: String
    package var topic: String
    /// librdkafka's configuration properties.
    package var properties: [String: String]
    /// Reads those of a file again.
    package var readChangingProperties: (@Sendable () throws -> [String: String])?
    /// `nil` if it is not stated.
    package var group: String?
    package var instance: String?
}

extension SettingKey {
    package static let relayURL = SettingKey(
        "relay.url",
        .text,
        """
        The Kafka topic that gets every event, as kafka://host:port,host:port/topic. The process then delivers to no other \
        tracker. The properties, the source and the timeouts of kafka.* apply to the relay.
        """,
        default: .none,
        option: "--relay"
    )
    static let relayFallback = RelaySettings.fallback.key
    package static let loadFrom = SettingKey(
        "load.from",
        .text,
        "The Kafka topic that `sluice load` reads, as kafka://host:port,host:port/topic. The properties of kafka.* apply to it.",
        default: .words("relay.url"),
        option: "--from"
    )
    package static let loadGroup = SettingKey(
        "load.group",
        .text,
        """
        The name of the loader: its processes share the topic's partitions. Each tracker has a consumer group of its own, \
        whose name is this name, a dot and the tracker's name.
        """,
        default: .none,
        option: "--group"
    )
    package static let loadInstance = SettingKey(
        "load.instance",
        .text,
        """
        A name that this process of a loader keeps when it is started again, and that no other one has, such as its pod's. It \
        then gets its partitions back at once if it is back within session.timeout.ms (static membership).
        """,
        default: .none,
        option: "--instance"
    )

    /// The settings of the topic that `sluice load` reads.
    static let load: [SettingKey] = [.loadFrom, .loadGroup, .loadInstance]
}

extension RelaySettings {
    fileprivate static let fallback = Setting<RelaySettings>.choice(
        "relay.whenUnavailable",
        \.fallback,
        """
        With relay.acknowledge brokers, what happens while the brokers accept no events: refuse (requests are answered with \
        503) or journal (events are acknowledged once they are in the journal; the answer says so).
        """
    )

    /// The settings of the relay.
    static let all: [Setting<RelaySettings>] = [
        Setting(.relayURL),
        .choice(
            "relay.acknowledge",
            \.acknowledgement,
            """
            When events for the relay are acknowledged: journal (once they are in the journal) or brokers (once all in-sync \
            replicas have them, so that the loss of this machine's disk loses none of them). With brokers, librdkafka retries a \
            message for 5 seconds unless kafka.timeouts.deliverySeconds is set.
            """
        ),
        fallback,
    ]
}

// MARK: Reading

extension SettingsReader {
    /// The relay, which has the settings of the tracker `kafka` except for its brokers and its topic; `nil` if none is set.
    func relay(_ settings: RelaySettings) -> KafkaConfiguration? {
        guard let address = address(.relayURL) else { return nil }
        var relay = kafka(at: address)
        relay.name = RelaySettings.trackerName
        relay.topic = address.topic
        relay.sendsPlanDigest = true
        guard settings.acknowledgement == .brokers else {
            relay.topicRequirement = .retained
            return relay
        }
        relay.topicRequirement = .replicated
        // Requests wait this long if the brokers are unavailable.
        relay.setDefaultDeliveryTimeout(.seconds(5))
        return relay
    }

    /// The topic that a loader reads, which is the relay's unless it is stated, with the properties of the tracker `kafka`; `nil` if
    /// there is none.
    func load() -> LoadSettings? {
        guard let address = address(.loadFrom) ?? address(.relayURL) else { return nil }
        let kafka = kafka(at: address)
        return LoadSettings(
            brokers: address.brokers,
            topic: address.topic,
            properties: kafka.properties,
            readChangingProperties: kafka.readChangingProperties,
            group: text(.loadGroup),
            instance: text(.loadInstance)
        )
    }

    private func kafka(at address: KafkaAddress) -> KafkaConfiguration {
        KafkaTracker.configuration(
            named: KafkaTracker.type,
            at: address.brokers,
            from: section(ofTracker: KafkaTracker.type)
        )
    }

    private func address(_ key: SettingKey) -> KafkaAddress? {
        guard let url = text(key) else { return nil }
        do throws(KafkaAddress.Problem) {
            return try KafkaAddress(url)
        } catch {
            note(key, error.description)
            return nil
        }
    }
}
