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
    /// The name by which the plan's events name the tracker.
    ///
    /// Default: `kafka`.
    public var name: String
    /// The topic.
    ///
    /// Default: `events`.
    ///
    /// `{event}` in it stands for the event's name in snake case, as its SQL table is called: `sales.{event}` makes
    /// `sales.item_purchased`. Letters that a topic's name cannot have are spelt by their code points: `zoë` is
    /// `zo-ueb`. Events that get the same topic share it; the header `ce_type` tells them apart.
    public var topic: String
    /// What the header `ce_source` says: where the events come from, a URI reference.
    ///
    /// Default: `sluice`.
    public var source: String
    /// How long `start` waits for a broker and for the topics.
    ///
    /// Default: 10 s.
    public var startTimeout: Duration
    /// Whether the tracker starts only if all of its topics accept messages, as far as that shows without writing.
    ///
    /// Default: `false`. Then one broken topic is logged, and the others get their messages.
    public var requiresEveryTopic: Bool
    /// librdkafka's own properties, by their own names; they win over `defaultProperties`.
    ///
    /// They may hold a password, and are never logged. A few belong to the tracker and are refused: `bootstrap.servers`,
    /// which is `brokers`; `delivery.report.only.error`, `transactional.id`, `log.queue` and `acks=0`, each of which would
    /// make it lose sight of what was delivered.
    public var properties: [String: String]

    /// What the tracker sets where librdkafka's own default does not serve it.
    ///
    /// - `enable.idempotence`, `acks`: a repetition by librdkafka is no duplicate, and all replicas have what is
    ///   delivered.
    /// - `message.timeout.ms`: how long librdkafka tries on its own before the pipeline does.
    /// - `linger.ms`: a delivery is a batch already, so there is little to wait for: long enough for requests of some size.
    /// - `partitioner`: a key goes to the partition to which Kafka's own clients in Java send it, so that topics can be
    ///   joined with theirs.
    /// - `topic.metadata.propagation.max.ms`: a topic that is not there is said so soon, because its events wait anyway,
    ///   and until then those of other topics wait with them.
    /// - `socket.nagle.disable`: the end of a delivery does not wait for an acknowledgement by TCP.
    public static let defaultProperties = [
        "acks": "all",
        "client.id": "sluice",
        "enable.idempotence": "true",
        "linger.ms": "0.3",
        "message.timeout.ms": "30000",
        "partitioner": "murmur2_random",
        "socket.nagle.disable": "true",
        "topic.metadata.propagation.max.ms": "3000",
    ]

    /// Takes the brokers, and the defaults or what is stated instead.
    public init(
        brokers: String,
        name: String = Self.defaultName,
        topic: String = Self.defaultTopic,
        source: String = Self.defaultSource,
        startTimeout: Duration = .seconds(10),
        requiresEveryTopic: Bool = false,
        properties: [String: String] = [:]
    ) {
        self.brokers = brokers
        self.name = name
        self.topic = topic
        self.source = source
        self.startTimeout = startTimeout
        self.requiresEveryTopic = requiresEveryTopic
        self.properties = properties
    }
}
