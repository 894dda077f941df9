import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// What `sluice load status --json` and `/v1/status` of a loader's private port say.
struct LoaderStatusAnswer: Decodable {
    struct Partition: Decodable {
        let partition: Int32
        let owner: String?
        let epoch: Int64?
        let next: Int64?
        let lag: Int64?
        let lagSeconds: Double?
        let refused: Int?
        let problem: String?
    }

    struct Tracker: Decodable {
        let tracker: String
        let partitions: [Partition]
        let problem: String?
    }

    let loader: String
    let topic: String
    let trackers: [Tracker]

    init(_ text: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }
}

@Suite("sluice load status", .timeLimit(.minutes(5)))
struct LoadStatusTests {
    /// A scene whose loader has loaded six records of three partitions, refused one, and ended; and its name in the database.
    private func loaded() async throws -> (LoadScene, owner: String) {
        let scene = try await LoadScene(SharedTopic(partitions: 3))
        try await scene.writePurchases(6)
        try await scene.topic.writer().write([LoadScene.purchase(partition: 2, quantity: 0)])
        let loader = try scene.load()
        try await scene.wait(
            for: "SELECT sum(next_offset) FROM analytics._sluice_loader_offsets",
            toBe: ["7"],
            loader: loader
        )
        try await scene.stop(loader)
        let owners = try await scene.database.run("SELECT DISTINCT owner FROM analytics._sluice_loader_offsets")
        #expect(owners.count == 1)
        #expect(owners[0].hasSuffix(":\(loader.processID)"))
        return (scene, owners[0])
    }

    @Test("while no loader runs, it shows for each partition what PostgreSQL and Kafka say")
    func shown() async throws {
        let (scene, owner) = try await loaded()
        try await scene.topic.writer().write([
            LoadScene.purchase(partition: 0),
            // More than is fetched of a partition at once.
            LoadScene.purchase(partition: 1, description: String(repeating: "x", count: 300_000)),
            LoadScene.purchase(partition: 1),
        ])
        var lags: [Int64] = []
        for partition in Int32(0)..<3 {
            let high = try await scene.topic.reader().watermarks(of: scene.topic.name, partition: partition).high
            lags.append(high - [2, 2, 3][Int(partition)])
        }
        #expect(lags == [1, 2, 0])

        var json = try await scene.status("--json")
        var answer = try LoaderStatusAnswer(json.output.joined())
        // An age is left out if Kafka does not answer in time.
        while answer.trackers.first?.partitions.prefix(2).contains(where: { $0.lagSeconds == nil }) == true {
            try await waitBriefly()
            json = try await scene.status("--json")
            answer = try LoaderStatusAnswer(json.output.joined())
        }
        #expect(json.ending == .exit(0), "\(json.errors)")
        #expect(answer.loader == "loader" && answer.topic == scene.topic.name)
        #expect(answer.trackers.map(\.tracker) == ["postgres"])
        let tracker = try #require(answer.trackers.first)
        #expect(tracker.problem == nil)
        #expect(tracker.partitions.map(\.partition) == [0, 1, 2])
        #expect(tracker.partitions.map(\.owner) == [owner, owner, owner])
        #expect(tracker.partitions.map(\.epoch) == [1, 1, 1])
        #expect(tracker.partitions.map(\.next) == [2, 2, 3])
        #expect(tracker.partitions.map(\.lag) == lags)
        #expect(tracker.partitions.map(\.refused) == [0, 0, 1])
        #expect(tracker.partitions.map { $0.lagSeconds.map { (0..<300).contains($0) } } == [true, true, nil])
        #expect(tracker.partitions.allSatisfy { $0.problem == nil })

        let table = try await scene.status()
        #expect(table.ending == .exit(0))
        let lines = table.output.map { $0.split(separator: " ").map(String.init) }
        #expect(lines.first == ["TRACKER", "PARTITION", "NEXT", "LAG", "AGE", "REFUSED", "EPOCH", "OWNER"])
        // The age changes from one moment to the next.
        let rows = lines.dropFirst().map { Array($0.prefix(4) + $0.dropFirst(5)) }
        #expect(
            rows == [
                ["postgres", "0", "2", "1", "0", "1", owner], ["postgres", "1", "2", "2", "0", "1", owner],
                ["postgres", "2", "3", "0", "1", "1", owner],
            ]
        )
        #expect(lines.last?[4] == "-")
        // Asking has claimed nothing.
        #expect(try await scene.positions() == ["0=2", "1=2", "2=3"])
    }

    @Test("sluice forget waits until the loader has loaded what came before", .promise("erased-person"))
    func forget() async throws {
        let (scene, _) = try await loaded()
        try scene.folder.write("a key of enough bytes\n", to: "hash.key")
        try await scene.topic.writer().write([LoadScene.purchase(partition: 1)])
        let forget = try SluiceProcess(
            [
                "forget", "--user", "17850", "--events", LoadScene.plan, "--postgres", scene.database.url,
                "--no-console",
            ],
            in: scene.folder,
            environment: [
                "SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key", "SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts",
                "SLUICE_LOAD_FROM": scene.topic.url, "SLUICE_LOAD_GROUP": "loader",
            ]
        )
        try await forget.errors.waitForLines(1)
        #expect(forget.errors.lines.first?.hasPrefix("Waiting") == true, "\(forget.errors.text)")
        let loader = try scene.load()
        #expect(try await forget.waitForEnd() == .exit(0), "\(forget.errors.text)")
        // The refused record names the person as well.
        for table in [LoadScene.table, "analytics._sluice_refused"] {
            #expect(try await scene.database.run("SELECT count(*) FROM \(table)") == ["0"], "\(table)")
        }
        try await scene.stop(loader)
    }

    @Test("a halted partition is a problem, and the command exits with 1")
    func halted() async throws {
        let (scene, _) = try await loaded()
        try await scene.database.run(
            "UPDATE analytics._sluice_loader_offsets SET next_offset = 50, last_record = NULL WHERE partition = 1"
        )
        let sentence = "the next record to load is 50, and the partition's high watermark is 2"
        let table = try await scene.status()
        #expect(table.ending == .exit(1))
        #expect(table.output.count == 5)
        #expect(table.output.last?.hasPrefix("postgres, partition 1: \(sentence)") == true, "\(table.output)")

        let json = try await scene.status("--json")
        #expect(json.ending == .exit(1))
        let partitions = try LoaderStatusAnswer(json.output.joined()).trackers.first?.partitions ?? []
        #expect(partitions.map { $0.problem?.hasPrefix(sentence) } == [nil, true, nil])
    }

    @Test("if a tracker or Kafka does not answer, that is a problem of that tracker, and the others are shown")
    func away() async throws {
        let (scene, _) = try await loaded()
        try await scene.database.run("ALTER TABLE analytics._sluice_loader_offsets RENAME TO gone")
        var run = try await scene.status(to: nil, "--json")
        #expect(run.ending == .exit(1))
        var trackers = try LoaderStatusAnswer(run.output.joined()).trackers.sorted { $0.tracker < $1.tracker }
        #expect(trackers.map(\.tracker) == ["console", "postgres"])
        #expect(trackers.map { $0.partitions.map(\.partition) } == [[0, 1, 2], []])
        #expect(trackers[0].problem == nil)
        #expect(trackers[1].problem?.contains("_sluice_loader_offsets") == true)

        try await scene.database.run("ALTER TABLE analytics.gone RENAME TO _sluice_loader_offsets")
        try scene.topic.mock?.goDown()
        run = try await scene.status(to: nil, "--json")
        #expect(run.ending == .exit(1))
        trackers = try LoaderStatusAnswer(run.output.joined()).trackers
        #expect(trackers.count == 2)
        #expect(trackers.allSatisfy { $0.problem != nil && $0.partitions.isEmpty })
    }
}
