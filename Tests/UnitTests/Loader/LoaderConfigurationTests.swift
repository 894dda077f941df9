import Loader
import SluiceKafka
import SluiceTesting
import Testing
import TrackerKit

@Suite("What a loader reads")
struct LoaderConfigurationTests {
    @Test("an instance name makes the process a static member of its groups; a dynamic member is excluded after 15 s")
    func membership() {
        var configuration = LoaderConfiguration(name: "warehouse", brokers: "a:9092", topic: "t", owner: "o")
        #expect(configuration.consumer(forTracker: "Console").group == "warehouse.console")
        #expect(configuration.consumer(forTracker: "console").properties == ["session.timeout.ms": "15000"])
        configuration.instance = "loader-0"
        #expect(configuration.consumer(forTracker: "console").properties == ["group.instance.id": "loader-0"])
        configuration.properties = ["session.timeout.ms": "60000", "group.instance.id": "other"]
        #expect(configuration.consumer(forTracker: "console").properties == configuration.properties)
    }

    @Test("a tracker gets as many records at a time as its deliveries have, and buffers have room for them")
    func deliveryLimits() {
        var configuration = LoaderConfiguration(name: "warehouse", brokers: "a:9092", topic: "t", owner: "o")
        let (plain, slow) = (RecordingTracker(name: "Plain"), SlowTracker())
        #expect(configuration.limits(of: plain).batchRecords == 10_000)
        #expect(configuration.limits(of: plain).linger == .zero)
        let limits = configuration.limits(of: slow)
        #expect((limits.batchRecords, limits.batchBytes) == (100_000, 64 << 20))
        #expect(limits.linger == .seconds(30))
        #expect((limits.bufferedRecords, limits.bufferedBytes) == (100_000, 64 << 20))
        #expect(limits.totalBufferedBytes == 64 << 20)
        // What the settings say takes precedence.
        let stated = DeliveryLimits(maximumEvents: 7, linger: .seconds(1))
        configuration.deliveryByTracker = ["slow": stated, "plain": stated]
        for tracker in [plain, slow] as [any Tracker] {
            #expect(configuration.limits(of: tracker).batchRecords == 7)
            #expect(configuration.limits(of: tracker).bufferedRecords == 20_000)
            #expect(configuration.limits(of: tracker).linger == .seconds(1))
        }
    }

    private struct SlowTracker: Tracker {
        let name = "Slow"
        let deliveryLimits: DeliveryLimits? = DeliveryLimits(
            maximumEvents: 100_000,
            maximumBytes: 64 << 20,
            linger: .seconds(30)
        )

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome { .delivered }
    }
}
