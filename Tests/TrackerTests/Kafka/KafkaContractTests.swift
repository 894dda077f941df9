import EventModel
import SluiceKafka
import SluiceTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct KafkaContractTests {
    @Test("the Kafka tracker meets the tracker contract, and with one partition keeps the order of all events")
    func onePartition() async throws {
        // The mock keeps at most 5 MiB for each partition, so a larger delivery would be truncated.
        try await verify(partitions: 1, .init(keepsOrder: true, largestDeliveryInEvents: 5000))
    }

    @Test("the Kafka tracker meets the tracker contract with many partitions")
    func manyPartitions() async throws {
        try await verify(partitions: 16, .init(keepsOrder: false))
    }

    private func verify(partitions: Int32, _ traits: TrackerContract.Traits) async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: partitions)
        let outage = TrackerContract.Outage {
            try cluster.goDown()
        } end: {
            try cluster.comeUp()
        }
        try await TrackerContract(
            traits: traits,
            outage: outage,
            makeTracker: { cluster.tracker() },
            delivered: { try await cluster.messages(in: "events").compactMap { EventID($0.header("ce_id") ?? "") } }
        ).verify()
    }
}
