import CLibRDKafka
import SluiceKafka
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite struct TopicGuaranteesTests {
    private func guarantees(_ settings: [String: String], replicas: Int? = 3) -> TopicGuarantees {
        var guarantees = TopicGuarantees()
        guarantees.replicas = replicas
        for (name, value) in settings { guarantees.set(name, value) }
        return guarantees
    }

    private let safe = [
        "min.insync.replicas": "2", "cleanup.policy": "delete", "unclean.leader.election.enable": "false",
        "retention.ms": "1",
    ]

    @Test("a topic keeps messages for its retention and one segment, or for ever, or for an unknown time")
    func retention() {
        func longest(_ policy: String, _ retention: String, _ segment: String? = "604800000") -> Duration? {
            let settings = ["cleanup.policy": policy, "retention.ms": retention, "segment.ms": segment]
            return guarantees(settings.compactMapValues { $0 }).longestRetention
        }
        #expect(longest("delete", "86400000") == .seconds(8 * 86_400))
        #expect(longest("compact,delete", "1000", "1") == .milliseconds(1001))
        #expect(longest("compact", "1000") == nil)
        #expect(longest("delete", "-1") == nil)
        #expect(longest("delete", "1000", nil) == nil)
        #expect(TopicGuarantees().longestRetention == nil)
    }

    @Test(
        "a topic is refused with all reasons, and only with those that the requirement names",
        .promise("unsafe-relay")
    )
    func problems() throws {
        let unsafe = guarantees(
            [
                "min.insync.replicas": "1", "cleanup.policy": "compact,delete",
                "unclean.leader.election.enable": "true",
            ],
            replicas: 1
        )
        let error = try #require(unsafe.problem(with: "shared", for: .replicated))
        #expect(error.code == .notPrepared && !error.isRetryable)
        #expect(error.message.contains("'shared'"))
        for word in [
            "1 replica,", "min.insync.replicas is 1", "'compact,delete'", "unclean.leader.election.enable is true",
        ] {
            #expect(error.message.contains(word), "\(error.message)")
        }
        let retained = try #require(unsafe.problem(with: "shared", for: .retained))
        #expect(retained.message.contains("cleanup.policy") && !retained.message.contains("replica,"))
        #expect(unsafe.problem(with: "shared", for: .none) == nil)
        #expect(guarantees(safe).problem(with: "shared", for: .replicated) == nil)
    }

    @Test("what the brokers do not say is listed, and is no problem")
    func unknowns() {
        let unknown = guarantees([:], replicas: nil)
        #expect(unknown.problem(with: "shared", for: .replicated) == nil)
        #expect(
            unknown.unknowns(for: .replicated) == [
                "cleanup.policy", "the number of replicas", "min.insync.replicas", "unclean.leader.election.enable",
            ]
        )
        #expect(unknown.unknowns(for: .retained) == ["cleanup.policy"])
        #expect(unknown.unknowns(for: .none) == [])
        #expect(guarantees(safe).unknowns(for: .replicated) == [])
    }

    @Test("a requirement makes every topic necessary at the start")
    func everyTopic() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("a", partitions: 1)
        cluster.setError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "b")
        let tracker = KafkaTracker(
            KafkaConfiguration(brokers: cluster.bootstrapServers, topic: "{event}", topicRequirement: .retained),
            logger: .quiet
        )
        let error = await #expect(throws: TrackerError.self) {
            try await tracker.start(for: .scripted(["A": ["kafka"], "B": ["kafka"]]))
        }
        #expect(error?.message.contains("'b'") == true)
        await tracker.stop()
    }
}
