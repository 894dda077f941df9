import CLibRDKafka
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("The private port of load", .timeLimit(.minutes(5)))
struct LoadPortTests {
    @Test("/readyz is 503 and says why until the group is joined; then status and metrics show the partitions")
    func joining() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 2))
        try await scene.writePurchases(4)
        try await scene.topic.writer().write([LoadScene.purchase(partition: 1, quantity: 0)])
        try scene.topic.mock?.goDown()
        try await scene.database.run("ALTER SCHEMA analytics RENAME TO gone")
        let loader = try scene.load()
        let port = try await PrivatePort(of: loader)
        #expect(try await port.request("/livez").status == 200)
        try await waitUntilUnready(
            port,
            because: "postgres: the tracker cannot start, or Kafka cannot be read; the log says why"
        )
        try await scene.database.run("ALTER SCHEMA gone RENAME TO analytics")
        try await waitUntilUnready(port, because: "postgres: its member has not joined the consumer group yet")
        let before = try LoaderStatusAnswer(await port.request("/v1/status").body)
        #expect(before.trackers.map(\.problem) == ["its member has not joined the consumer group yet"])

        try scene.topic.mock?.comeUp()
        while try await port.request("/readyz").status != 200 { try await waitBriefly() }
        try await scene.wait(
            for: "SELECT sum(next_offset) FROM analytics._sluice_loader_offsets",
            toBe: ["5"],
            loader: loader
        )
        // The brokers are asked for the ends of the partitions from time to time.
        var partitions: [LoaderStatusAnswer.Partition] = []
        repeat {
            try await waitBriefly()
            partitions = try LoaderStatusAnswer(await port.request("/v1/status").body).trackers[0].partitions
        } while partitions.contains { $0.lag != 0 }
        #expect(partitions.map(\.partition) == [0, 1])
        #expect(partitions.map(\.next) == [2, 3])
        #expect(partitions.map(\.epoch) == [1, 1])
        #expect(partitions.allSatisfy { $0.problem == nil })

        let metrics = try await port.metrics(in: scene.folder)
        #expect(metrics["sluice_load_records_loaded_total tracker=postgres"] == 4)
        #expect(metrics["sluice_load_records_refused_total tracker=postgres"] == 1)
        #expect(metrics["sluice_load_offsets_skipped_total tracker=postgres"] == 0)
        #expect(metrics["sluice_load_failing tracker=postgres"] == 0)
        for (partition, next) in [("0", 2.0), ("1", 3.0)] {
            let labels = " partition=\(partition) tracker=postgres"
            #expect(metrics["sluice_load_assigned" + labels] == 1)
            #expect(metrics["sluice_load_next_offset" + labels] == next)
            #expect(metrics["sluice_load_lag_records" + labels] == 0)
            #expect(metrics["sluice_load_lag_seconds" + labels] == 0)
            #expect(metrics["sluice_load_halted" + labels] == 0)
        }
        #expect(metrics.keys.contains { $0.hasPrefix("sluice_build_info version=") })
        #expect(metrics.keys.contains { $0.hasPrefix("sluice_plan_info ") })
        try await scene.stop(loader)
    }

    @Test("/readyz is 503 while a partition is halted, and says which one")
    func halted() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.writePurchases(2)
        var loader = try scene.load()
        try await scene.waitForStored(2, loader: loader)
        try await scene.stop(loader)
        try await scene.database.run("UPDATE analytics._sluice_loader_offsets SET next_offset = 50, last_record = NULL")
        loader = try scene.load()
        let port = try await PrivatePort(of: loader)
        try await waitUntilUnready(port, because: "postgres, partition 0: the next record to load is 50")
        let metrics = try await port.metrics(in: scene.folder)
        #expect(metrics["sluice_load_halted partition=0 tracker=postgres"] == 1)
        try await scene.stop(loader)
    }

    @Test("/readyz is 503 while a member has lost its partitions, and 200 once it has some again")
    func lost() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let loader = try scene.load()
        let port = try await PrivatePort(of: loader)
        while try await port.request("/readyz").status != 200 { try await waitBriefly() }
        // Longer than the time after which the group gives the partitions to others.
        try scene.topic.mock?.goDown()
        try await waitUntilUnready(
            port,
            because: "postgres: its member has left the consumer group and will join it again"
        )
        try scene.topic.mock?.comeUp()
        while try await port.request("/readyz").status != 200 { try await waitBriefly() }
        try await scene.stop(loader)
    }

    @Test("a loader that could not read an idle partition notices that it can again")
    func readable() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.writePurchases(2)
        let loader = try scene.load()
        try await scene.waitForStored(2, loader: loader)
        scene.topic.mock?.failFetches([RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED])
        _ = try await loader.errors.line(containing: "Kafka cannot be read; the loader will retry.")
        _ = try await loader.errors.line(containing: "Kafka can be read again.")
        try await scene.writePurchases(2)
        try await scene.waitForStored(4, loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 4)
    }

    private func waitUntilUnready(_ port: PrivatePort, because reason: String) async throws {
        var answer = try await port.request("/readyz")
        while !answer.body.contains(reason) {
            try await waitBriefly()
            answer = try await port.request("/readyz")
        }
        #expect(answer.status == 503)
    }
}
