import CLibRDKafka
import SluiceKafka
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite(.timeLimit(.minutes(5))) struct KafkaStartTests {
    @Test(
        "an invalid property fails with librdkafka's message",
        arguments: [
            (["no.such.property": "1"], #"No such configuration property: "no.such.property""#),
            (["linger.ms": "soon"], "linger.ms"),
            (["compression.type": "rar"], "compression.type"),
            (["acks": "1"], "enable.idempotence"),
        ]
    )
    func wrongProperty(properties: [String: String], words: String) async throws {
        let configuration = KafkaConfiguration(brokers: "localhost:1", properties: properties)
        #expect(await errors(of: configuration).first??.code == .invalidSettings)
        for error in await errors(of: configuration) {
            #expect(error?.isRetryable == false)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test(
        "a property that the tracker sets itself is rejected, and the error says why",
        arguments: [
            ["bootstrap.servers": "elsewhere:9092"], ["delivery.report.only.error": "true"], ["transactional.id": "t"],
            ["log.queue": "true"], ["acks": "0", "enable.idempotence": "false"],
        ]
    )
    func ownProperty(properties: [String: String]) async throws {
        for error in await errors(of: KafkaConfiguration(brokers: "localhost:1", properties: properties)) {
            #expect(error?.code == .invalidSettings)
            #expect(error?.message.contains("cannot be set here") == true)
        }
    }

    @Test(
        "invalid broker addresses are rejected without network access",
        arguments: ["", " , ", "localhost:kafka", "a:9092,b:70000", "[::1]:0", "ssl://a:0", "ssl://", "https://a:1"]
    )
    func wrongBrokers(brokers: String) async throws {
        for error in await errors(of: KafkaConfiguration(brokers: brokers)) {
            #expect(error?.code == .invalidSettings)
        }
    }

    @Test(
        "settings that may work are accepted without network access",
        arguments: [
            "a", "a:9092, b:9093", "[::1]:9092", "::1", "localhost:9092 ,b:9092", "PLAINTEXT://host:9092",
            "plaintext://host",
            "SASL_SSL://a:9092,ssl://[::1]:9093",
        ]
    )
    func possibleSettings(brokers: String) throws {
        let configuration = KafkaConfiguration(brokers: brokers, properties: ["enable.idempotence": "false"])
        try KafkaTracker(configuration, logger: .quiet).checkSettings(for: KafkaEvents.catalog)
    }

    @Test(
        "a file that cannot be read passes the check of the settings, but fails the start, which is retried",
        .promise("unavailable-at-start")
    )
    func unreadableFile() async throws {
        let configuration = KafkaConfiguration(
            brokers: "localhost:1",
            properties: ["security.protocol": "ssl", "ssl.ca.location": "/no/such/file"]
        )
        try KafkaTracker(configuration, logger: .quiet).checkSettings(for: KafkaEvents.catalog)
        let error = await startError(configuration)
        #expect(error?.code == .misconfigured)
        #expect(error?.message.contains("ssl.ca.location") == true, "\(String(describing: error))")
    }

    @Test("an operator can disable idempotence")
    func withoutIdempotence() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker(["enable.idempotence": "false", "request.required.acks": "1"]) { tracker in
            #expect(await tracker.deliver(KafkaEvents.delivery(10)).isDelivered)
        }
        #expect(try await cluster.numbers().sorted() == Array(0..<10))
    }

    @Test("without a broker the start fails as an outage, and the same tracker starts once there is one")
    func noBroker() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.goDown()
        let configuration = KafkaConfiguration(
            brokers: cluster.bootstrapServers,
            startTimeout: .milliseconds(300),
            properties: ["reconnect.backoff.ms": "20", "reconnect.backoff.max.ms": "50"]
        )
        let tracker = KafkaTracker(configuration, logger: .quiet)
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: KafkaEvents.catalog) }
        #expect(error?.code == .unavailable)
        #expect(error?.isRetryable == true)
        #expect(error?.message.contains(cluster.bootstrapServers) == true)
        try cluster.comeUp()
        var starts = 0
        while starts < 20, await !hasStarted(tracker) { starts += 1 }
        #expect(await tracker.deliver(KafkaEvents.delivery(10)).isDelivered)
        await tracker.stop()
    }

    @Test("a missing topic that the brokers do not create fails the start with an error that names it")
    func missingTopic() async throws {
        let cluster = try MockKafkaCluster()
        cluster.setError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "events")
        let error = await startError(KafkaConfiguration(brokers: cluster.bootstrapServers))
        #expect(error?.code == .notPrepared)
        #expect(error?.isRetryable == false)
        #expect(error?.message.contains("'events'") == true)
    }

    @Test("a cancelled start returns before its timeout")
    func cancelledStart() async throws {
        let tracker = KafkaTracker(KafkaConfiguration(brokers: "localhost:1"), logger: .quiet)
        let task = Task { try await tracker.start(for: KafkaEvents.catalog) }
        let cancelled = ContinuousClock.now
        task.cancel()
        await #expect(throws: TrackerError.self) { try await task.value }
        #expect(ContinuousClock.now - cancelled < .seconds(5))
        await tracker.stop()
    }

    @Test("a tracker without events starts and stops")
    func noEvents() async throws {
        let cluster = try MockKafkaCluster()
        let tracker = cluster.tracker()
        try await tracker.start(for: .scripted(["Other": ["console"]]))
        await tracker.stop()
    }

    @Test("a tracker that was never started can be stopped")
    func stopOnly() async {
        await KafkaTracker(KafkaConfiguration(brokers: "localhost:1"), logger: .quiet).stop()
    }

    @Test("a topic name that Kafka does not allow is an error", arguments: ["", ".", "orders today", "{events}", "é"])
    func wrongTopic(topic: String) async throws {
        for error in await errors(of: KafkaConfiguration(brokers: "localhost:1", topic: topic)) {
            #expect(error?.code == .invalidSettings)
            #expect(error?.message.contains("is not a valid topic name") == true)
        }
    }

    /// The errors of `checkSettings` and `start`.
    private func errors(of configuration: KafkaConfiguration) async -> [TrackerError?] {
        let tracker = KafkaTracker(configuration, logger: .quiet)
        let error = #expect(throws: TrackerError.self) { try tracker.checkSettings(for: KafkaEvents.catalog) }
        return [error, await startError(configuration)]
    }

    private func hasStarted(_ tracker: KafkaTracker) async -> Bool {
        do {
            try await tracker.start(for: KafkaEvents.catalog)
            return true
        } catch {
            return false
        }
    }

    private func startError(_ configuration: KafkaConfiguration) async -> TrackerError? {
        let tracker = KafkaTracker(configuration, logger: .quiet)
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: KafkaEvents.catalog) }
        await tracker.stop()
        return error
    }
}
