import TrackerKit

/// Which Kafka cluster the events go to, and how.
public struct KafkaConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "kafka"
    /// The default topic.
    public static let defaultTopic = "events"
    /// The default value of the header `ce_source`.
    public static let defaultSource = "sluice"

    /// The bootstrap servers, as `host:port,host:port`.
    public var brokers: String
    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `kafka`.
    public var name: String
    /// The topic.
    ///
    /// Default: `events`.
    ///
    /// `{event}` is replaced by the event's name in snake case, like the name of its SQL table: `sales.{event}` becomes
    /// `sales.item_purchased`. Letters that are not allowed in a topic's name are replaced by their code points: `zoë`
    /// becomes `zo-ueb`. Events with the same topic name share the topic; the header `ce_type` tells them apart.
    public var topic: String
    /// The value of the header `ce_source`: a URI reference for the origin of the events.
    ///
    /// Default: `sluice`.
    public var source: String
    /// Whether a valid `traceparent` (W3C Trace Context) in the `context` of an event becomes a header of its message.
    ///
    /// Default: `false`.
    public var sendsTraceparent: Bool
    /// Whether each message has the header `ce_sluiceplan`: the digest of the plan that the event was checked against, as 32
    /// hexadecimal digits.
    ///
    /// Default: `false`.
    public var sendsPlanDigest: Bool
    /// The timeout of `start`, which waits for a broker and for the topics.
    ///
    /// Default: 10 s.
    public var startTimeout: Duration
    /// Whether the tracker starts only if all of its topics accept messages, as far as that can be checked without
    /// writing.
    ///
    /// Default: `false`: a topic that accepts no messages is logged, and the others get their messages.
    public var requiresEveryTopic: Bool
    /// What the topics' settings have to promise.
    ///
    /// Default: `none`. With any other value, every topic must accept messages when the tracker starts. Settings that the brokers
    /// do not say are logged.
    public var topicRequirement: TopicRequirement
    /// librdkafka's configuration properties, by librdkafka's names; they override `defaultProperties`.
    ///
    /// They can contain a password and are never logged. Some are reserved for the tracker and rejected:
    /// `bootstrap.servers`, which is set by `brokers`; `delivery.report.only.error`, `transactional.id`, `log.queue`
    /// and `acks=0`, with which the tracker could not tell what was delivered.
    public var properties: [String: String]
    /// Reads those properties again that can change while the process runs, such as a password in a file; they replace the ones of
    /// `properties`.
    ///
    /// Default: `nil`. The tracker calls it before it creates a client, and after a failure to find out whether it needs a new
    /// one. What it throws is the reason of a failed delivery, which is retried; its description must not contain a secret.
    public var readChangingProperties: (@Sendable () throws -> [String: String])?

    /// The properties whose defaults differ from librdkafka's.
    ///
    /// - `enable.idempotence`, `acks`: a retry by librdkafka creates no duplicate, and all in-sync replicas
    ///   have what is delivered.
    /// - `message.timeout.ms`: how long librdkafka retries before the pipeline does. The next delivery, with messages
    ///   of other topics, waits for at most this time.
    /// - `linger.ms`: a delivery is a batch already, so a short wait is enough to fill a request.
    /// - `partitioner`: a key maps to the same partition as with Kafka's Java clients, so that topics can be joined
    ///   with theirs.
    /// - `topic.metadata.propagation.max.ms`: a missing topic is reported soon, because until then the events of
    ///   other topics wait with its own.
    /// - `socket.nagle.disable`: the end of a delivery does not wait for an acknowledgement by TCP.
    public static let defaultProperties = [
        "acks": "all",
        "client.id": "sluice",
        "enable.idempotence": "true",
        "linger.ms": "0.3",
        "message.timeout.ms": "8000",
        "partitioner": "murmur2_random",
        "socket.nagle.disable": "true",
        "topic.metadata.propagation.max.ms": "3000",
    ]

    /// Creates a configuration.
    public init(
        brokers: String,
        name: String = Self.defaultName,
        topic: String = Self.defaultTopic,
        source: String = Self.defaultSource,
        sendsTraceparent: Bool = false,
        sendsPlanDigest: Bool = false,
        startTimeout: Duration = .seconds(10),
        requiresEveryTopic: Bool = false,
        topicRequirement: TopicRequirement = .none,
        properties: [String: String] = [:],
        readChangingProperties: (@Sendable () throws -> [String: String])? = nil
    ) {
        self.brokers = brokers
        self.name = name
        self.topic = topic
        self.source = source
        self.sendsTraceparent = sendsTraceparent
        self.sendsPlanDigest = sendsPlanDigest
        self.startTimeout = startTimeout
        self.requiresEveryTopic = requiresEveryTopic
        self.topicRequirement = topicRequirement
        self.properties = properties
        self.readChangingProperties = readChangingProperties
    }

    /// The configuration with the current values of the properties that can change.
    ///
    /// - Throws: `misconfigured`, with the reason, if they cannot be read.
    func withCurrentProperties() throws(TrackerError) -> KafkaConfiguration {
        guard let readChangingProperties else { return self }
        var current = self
        do {
            current.properties.merge(try readChangingProperties()) { $1 }
        } catch {
            throw TrackerError(code: .misconfigured, message: "\(error)", isRetryable: false, underlying: error)
        }
        return current
    }
}

extension KafkaConfiguration {
    /// What the settings of a topic have to promise, so that the tracker starts.
    public struct TopicRequirement: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, CaseIterable {
            case none, retained, replicated
        }

        package let kind: Kind

        /// Nothing.
        public static let none = TopicRequirement(kind: .none)
        /// No message is removed before its time: `cleanup.policy` is `delete`.
        public static let retained = TopicRequirement(kind: .retained)
        /// Also, the loss of one broker loses no acknowledged message.
        ///
        /// Needs at least two replicas, `min.insync.replicas` of at least 2, and no unclean leader election. The properties `acks` and `enable.idempotence` cannot be changed then.
        public static let replicated = TopicRequirement(kind: .replicated)

        /// The name of the case.
        public var description: String { kind.rawValue }
    }
}
