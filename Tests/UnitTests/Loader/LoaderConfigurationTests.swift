import Loader
import SluiceKafka
import Testing

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
}
