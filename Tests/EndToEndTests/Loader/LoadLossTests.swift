import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `sluice load` where Kafka does not have what comes next, or has what this loader's plan does not describe.
@Suite("sluice load: losses and other plans", .timeLimit(.minutes(5)))
struct LoadLossTests {
    private static let halted =
        "Kafka does not have the next records of a partition; before you use --accept-loss"

    /// Loads ten records, and ends the loader.
    private func loadTen(_ scene: LoadScene) async throws {
        try await scene.writePurchases(10)
        let loader = try scene.load()
        try await scene.waitForStored(10, loader: loader)
        try await scene.stop(loader)
    }

    @Test(
        "a partition whose next records retention has removed stops and says so; --accept-loss continues and stores the range",
        .promise("missing-records")
    )
    func retention() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await loadTen(scene)
        // The mock cluster keeps 5 MiB of a partition.
        let padding = String(repeating: "x", count: 90)
        var low: Int64 = 0
        while low <= 10 {
            try await scene.writePurchases(2000, description: padding)
            low = try await scene.topic.reader().watermarks(of: scene.topic.name, partition: 0).low
        }
        let high = try await scene.topic.reader().watermarks(of: scene.topic.name, partition: 0).high
        var loader = try scene.load()
        let line = try await loader.errors.line(containing: Self.halted)
        #expect(line.contains("the next record to load is 10, and retention has removed all records before \(low)"))
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 10)

        loader = try scene.load("--accept-loss")
        try await scene.wait(for: LoadCommandTests.position, toBe: ["\(high)"], loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 10 + Int(high - low))
        let losses = try await scene.database.run(
            "SELECT partition, first_offset, next_offset, reason FROM analytics._sluice_accepted_losses"
        )
        #expect(losses.count == 1 && losses.allSatisfy { $0.hasPrefix("0|10|\(low)|the next record to load is 10") })
    }

    @Test(
        "a loader that retention has overtaken while it was stopped continues at the first record; --accept-loss stores the range",
        .promise("missing-records")
    )
    func overtaken() async throws {
        // More partitions than the loader loads at a time, so that they are not all in the same state.
        let scene = try await LoadScene(SharedTopic(partitions: 6))
        try await scene.writePurchases(10)
        // Otherwise the group would assign the partitions anew.
        let loader = try scene.load(properties: ["session.timeout.ms": "300000"], "--accept-loss")
        try await scene.waitForStored(10, loader: loader)
        loader.send(SIGSTOP)
        let reader = try scene.topic.reader()
        let first = try await reader.watermarks(of: scene.topic.name, partition: 0).high
        let padding = String(repeating: "x", count: 90)
        var low: Int64 = 0
        // The answer that the loader waited for has records of the first write; the mock cluster keeps 5 MiB of a partition.
        while low <= first + 1000 {
            try await scene.writePurchases(6000, description: padding)
            low = try await reader.watermarks(of: scene.topic.name, partition: 0).low
        }
        loader.send(SIGCONT)
        var high: [Int64] = []
        for number in 0..<scene.topic.partitions {
            high.append(try await reader.watermarks(of: scene.topic.name, partition: number).high)
        }
        try await scene.wait(
            for: LoadCommandTests.position + " ORDER BY partition",
            toBe: high.map(String.init),
            loader: loader
        )
        try await scene.stop(loader)
        let losses = try await scene.database.run(
            "SELECT coalesce(sum(next_offset - first_offset), 0) FROM analytics._sluice_accepted_losses"
        )
        #expect(losses != ["0"])
        #expect(try await scene.stored().count == Int(high.reduce(0, +)) - (losses.first.flatMap { Int($0) } ?? 0))
    }

    @Test(
        "a topic that was recreated is noticed by the last record and by its end",
        .promise("missing-records"),
        arguments: [
            ("last_record = jsonb_set(last_record, '{id}', '\"other\"')", "the last record loaded was"),
            ("last_record = jsonb_set(last_record, '{timestamp}', '1')", "the last record loaded was"),
            ("next_offset = 50, last_record = NULL", "the next record to load is 50, and the partition's high"),
        ]
    )
    func recreated(change: String, sentence: String) async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await loadTen(scene)
        try await scene.database.run("UPDATE analytics._sluice_loader_offsets SET \(change)")
        try await scene.writePurchases(1)
        let loader = try scene.load()
        let line = try await loader.errors.line(containing: Self.halted)
        #expect(line.contains(sentence) && line.contains("the topic was recreated"))
        // The ends of partitions are asked for after the first records would have come.
        let port = try await PrivatePort(of: loader)
        var partition: LoaderStatusAnswer.Partition?
        while partition?.problem == nil || partition?.lag == nil {
            try await waitBriefly()
            partition = try LoaderStatusAnswer(await port.request("/v1/status").body).trackers.first?.partitions.first
        }
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 10)
    }

    @Test("the positions of another cluster's topic of the same name do not count", .promise("missing-records"))
    func otherCluster() async throws {
        let first = try await LoadScene(SharedTopic(partitions: 1))
        try await loadTen(first)
        try await first.database.run("UPDATE analytics._sluice_loader_offsets SET cluster = 'another'")
        let loader = try first.load()
        try await first.wait(
            for: "\(LoadCommandTests.position) WHERE cluster <> 'another'",
            toBe: ["10"],
            loader: loader
        )
        try await first.stop(loader)
        #expect(try await first.stored().count == 10)
    }

    /// A plan whose event has a least quantity.
    private static func plan(least: Int) throws -> String {
        let text = try String(contentsOfFile: LoadScene.plan, encoding: .utf8)
        return text.replacingOccurrences(
            of: "<key>minimum</key>\n\t\t\t\t<integer>1</integer>",
            with: "<key>minimum</key>\n\t\t\t\t<integer>\(least)</integer>"
        )
    }

    @Test(
        "a record of another plan that fails the check waits, and a loader with that plan loads it",
        .promise("newer-plan")
    )
    func otherPlan() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try scene.folder.write(try Self.plan(least: 0), to: "newer/retail.plist")
        let newer = scene.folder.path("newer/retail.plist")
        let server = try await ServingSluice.start("--relay", scene.topic.url, in: scene.folder, plan: newer)
        let lines = try await RetailMonth.dayLines(3).map {
            $0.replacing(/"quantity":\d+/, with: #""quantity":"# + ($0.contains("LANTERN") ? "0" : "1"))
        }
        for line in lines { #expect(try await server.post(line, type: "application/x-ndjson").status == 200) }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        var loader = try scene.load()
        // The first line is loaded, the second one waits, and so does the third.
        try await scene.waitForStored(1, loader: loader)
        _ = try await loader.errors.line(containing: "the partition waits for a loader with that plan")
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 1)
        #expect(try await scene.refused() == [])
        loader = try scene.load(plan: newer)
        try await scene.waitForStored(3, loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.refused() == [])
    }

    @Test("a record of another plan is refused once no loader with that plan has come in time", .promise("newer-plan"))
    func otherPlanRefused() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let other = String(repeating: "0", count: 32)
        // Almost as old as the 5 minutes after which such records are refused.
        let age: Int64 = 295
        let timestamp = (Int64(Date().timeIntervalSince1970) - age) * 1000
        try await scene.topic.writer().write(
            [6, 0, 6].map { quantity in
                var record = LoadScene.purchase(partition: 0, quantity: quantity, planDigest: other)
                record.timestamp = timestamp
                return record
            }
        )
        let loader = try scene.load()
        try await scene.waitForStored(2, loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.refused() == ["0/1"])
        #expect(try await scene.positions() == ["0=3"])
    }
}
