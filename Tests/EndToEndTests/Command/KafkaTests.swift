import CLibRDKafka
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The retail data of one month in librdkafka's mock cluster, which the program reaches over TCP.
@Suite("sluice and Kafka", .timeLimit(.minutes(5)))
struct KafkaTests {
    private static let plan = Sluice.plan + "/retail.plist"

    /// A cluster with enough partitions for the month, because the mock stores at most 5 MiB per partition.
    private func cluster() throws -> MockKafkaCluster {
        let cluster = try MockKafkaCluster(brokers: 3)
        try cluster.makeTopic("events", partitions: 12)
        return cluster
    }

    @Test("a replayed month reaches a consumer completely, with each user's events in order")
    func month() async throws {
        let folder = try TestFolder()
        let cluster = try cluster()
        let run = try await Sluice.replay(
            [RetailMonth.path, "--kafka", cluster.bootstrapServers, "--to", "kafka"],
            in: folder,
            plan: Self.plan
        )
        #expect(run.ending == .exit(0))
        #expect(try run.report().delivered == ["kafka": 42_481])
        let messages = try await cluster.messages(in: "events")
        #expect(messages.count == 42_481)
        #expect(try RetailMonth.facts(of: messages.map(\.value)) == RetailMonth.facts)
        // An event without a user has its id as the key, and no user is in two partitions.
        let partitions = Dictionary(grouping: messages, by: \.key).mapValues { Set($0.map(\.partition)) }
        #expect(partitions.allSatisfy { $0.key != nil && $0.value.count == 1 })
        let ids = Dictionary(grouping: messages, by: \.key).mapValues { $0.map { $0.header("ce_id") } }
        let console = try await Sluice.replay(RetailMonth.path, in: folder, plan: Self.plan).output
        let expected = console.filter { $0.contains(#""userId":"17850""#) }.map { EndToEndTests.ids(of: [$0])[0] }
        #expect(expected.count > 100)
        #expect(ids["17850"] == expected)
    }

    @Test("properties in the environment are separated by semicolons, so that values may contain commas")
    func properties() async throws {
        let folder = try TestFolder()
        let cluster = try cluster()
        let run = try await Sluice.replay(
            [RetailMonth.dayPath, "--kafka", cluster.bootstrapServers, "--to", "kafka"],
            in: folder,
            plan: Self.plan,
            environment: ["SLUICE_KAFKA_PROPERTIES": "debug=topic,msg;client.id=shop"]
        )
        #expect(run.ending == .exit(0))
        #expect(try run.report().delivered == ["kafka": 3_108])
    }

    @Test("brokers that go down during a replay and come back lose no events")
    func outage() async throws {
        let folder = try TestFolder()
        let cluster = try cluster()
        let feed = try RetailMonth.Feed(in: folder)
        let process = try SluiceProcess(
            [
                "replay", feed.path, "--events", Self.plan, "--json", "--kafka", cluster.bootstrapServers, "--to",
                "kafka",
                // Short enough that Sluice retries as well as librdkafka.
                "--kafka-property", "message.timeout.ms=1000",
            ],
            in: folder
        )
        while try await cluster.messages(in: "events").count < 1_000 { try await waitBriefly() }
        try cluster.goDown()
        try await feed.goOn()
        _ = try await process.errors.line(containing: "A delivery failed and is tried again")
        try cluster.comeUp()
        #expect(try await process.waitForEnd() == .exit(0))
        let values = Set(try await cluster.messages(in: "events").map(\.value))
        #expect(try RetailMonth.facts(of: Array(values)) == RetailMonth.facts)
        #expect(folder.quarantined() == [])
    }

    @Test("broker errors during a replay lose no events")
    func errors() async throws {
        let folder = try TestFolder()
        let cluster = try cluster()
        let transient = [
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR__TRANSPORT,
        ]
        cluster.failProducing(Array(repeating: transient, count: 3).flatMap { $0 })
        // Unlike Kafka, the mock brokers ignore sequence numbers: after they refuse one request, they accept the next, and
        // librdkafka concludes that they have the refused one too. So only one request is in flight at a time.
        let run = try await Sluice.replay(
            [
                RetailMonth.path, "--kafka", cluster.bootstrapServers, "--to", "kafka",
                "--kafka-property", "max.in.flight=1",
            ],
            in: folder,
            plan: Self.plan
        )
        #expect(run.ending == .exit(0))
        #expect(try run.report().delivered == ["kafka": 42_481])
        let values = Set(try await cluster.messages(in: "events").map(\.value))
        #expect(try RetailMonth.facts(of: Array(values)) == RetailMonth.facts)
    }
}
