import EventPipeline
package import SettingDefinitions
import SluiceKafka

/// The Kafka topic that gets every event in place of the events' trackers.
struct RelaySettings: Configurable {
    static let defaults = RelaySettings()

    /// The name of the tracker that sends every event to the relay's topic.
    static let trackerName = "relay"

    /// The relay's brokers and its topic; empty if there is no relay.
    var brokers = ""
    var topic = ""
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
package struct LoadSettings: Configurable {
    package static let defaults = LoadSettings()

    package var brokers = ""
    package var topic = ""
    /// librdkafka's configuration properties, which are the tracker's for Kafka.
    package var properties: [String: String] = [:]
    /// Reads those of a file again.
    package var readChangingProperties: (@Sendable () throws -> [String: String])?
    /// `nil` if it is not stated.
    package var group: String?
    package var instance: String?
}

extension SettingKey {
    package static let relayURL = RelaySettings.url.key
    static let relayFallback = RelaySettings.fallback.key
    package static let loadFrom = LoadSettings.from.key
    package static let loadGroup = LoadSettings.group.key
    package static let loadInstance = LoadSettings.instance.key
}

extension RelaySettings {
    fileprivate static let url = Setting<RelaySettings>.topic(
        "relay.url",
        brokers: \.brokers,
        topic: \.topic,
        default: .none,
        option: "--relay",
        """
        The Kafka topic that gets every event, as kafka://host:port,host:port/topic. The process then delivers to no other \
        tracker. The properties, the source and the timeouts of kafka.* apply to the relay.
        """
    )
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
        url,
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

extension LoadSettings {
    fileprivate static let from = Setting<LoadSettings>.topic(
        "load.from",
        brokers: \.brokers,
        topic: \.topic,
        default: .words("relay.url"),
        option: "--from",
        "The Kafka topic that `sluice load` reads, as kafka://host:port,host:port/topic. The properties of kafka.* apply to it."
    )
    fileprivate static let group = Setting<LoadSettings>.text(
        "load.group",
        \.group,
        option: "--group",
        """
        The name of the loader: its processes share the topic's partitions. Each tracker has a consumer group of its own, \
        whose name is this name, a dot and the tracker's name.
        """
    )
    fileprivate static let instance = Setting<LoadSettings>.text(
        "load.instance",
        \.instance,
        option: "--instance",
        """
        A name that this process of a loader keeps when it is started again, and that no other one has, such as its pod's. It \
        then gets its partitions back at once if it is back within session.timeout.ms (static membership).
        """
    )

    /// The settings of the topic that `sluice load` reads.
    static let all: [Setting<LoadSettings>] = [from, group, instance]
}

extension Setting {
    /// A topic of a Kafka cluster, as `kafka://host:port,host:port/topic`.
    fileprivate static func topic(
        _ name: String,
        brokers: Place<String>,
        topic: Place<String>,
        default standard: SettingKey.Default,
        option: String,
        _ summary: String
    ) -> Setting {
        let key = SettingKey(name, .text, summary, default: standard, option: option)
        return Setting(key) { values, configuration in
            guard let url = values.text(key) else { return }
            do throws(KafkaAddress.Problem) {
                let address = try KafkaAddress(url)
                configuration[keyPath: brokers] = address.brokers
                configuration[keyPath: topic] = address.topic
            } catch {
                values.note(key, error.description)
            }
        }
    }
}

// MARK: Reading

extension SettingsReader {
    /// The relay, which has the settings of the tracker `kafka` except for its brokers and its topic; `nil` if none is set.
    func relay(_ settings: RelaySettings) -> KafkaConfiguration? {
        guard !settings.brokers.isEmpty else { return nil }
        var relay = kafka(at: settings.brokers)
        relay.name = RelaySettings.trackerName
        relay.topic = settings.topic
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
    func load(_ relay: RelaySettings) -> LoadSettings? {
        var load = LoadSettings.reading(LoadSettings.all, from: self)
        if load.brokers.isEmpty { (load.brokers, load.topic) = (relay.brokers, relay.topic) }
        guard !load.brokers.isEmpty else { return nil }
        let kafka = kafka(at: load.brokers)
        load.properties = kafka.properties
        load.readChangingProperties = kafka.readChangingProperties
        return load
    }

    private func kafka(at brokers: String) -> KafkaConfiguration {
        KafkaTracker.configuration(
            named: KafkaTracker.type,
            at: brokers,
            from: section(ofTracker: KafkaTracker.type)
        )
    }
}
