import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// A database that is built anew from the topic of the relay, which still has the events of people who were erased.
@Suite("A database that is rebuilt from Kafka", .timeLimit(.minutes(3)))
struct RebuildTests {
    private static let environment = [
        "SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key", "SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts",
    ]
    private static let positions = "SELECT sum(next_offset) FROM analytics._sluice_loader_offsets"

    @Test(
        "has every event but those of a person who was erased or anonymised",
        .promise("erased-person"),
        arguments: [[], ["--anonymise"]]
    )
    func erased(mode: [String]) async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 2))
        try scene.folder.write("a key of enough bytes\n", to: "hash.key")
        try FileManager.default.createDirectory(
            atPath: scene.folder.path("receipts"),
            withIntermediateDirectories: false
        )
        let records = (0..<20).map { number in
            LoadScene.purchase(partition: Int32(number % 2), user: number % 5 == 0 ? "ada" : "bob")
        }
        try await scene.topic.writer().write(records)
        try await load(scene)
        #expect(try await users(scene) == ["ada|4", "bob|16"])
        let forget = try await command(scene, ["forget", "--user", "ada"] + mode)
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(try await users(scene) == (mode.isEmpty ? ["bob|16"] : ["-|4", "bob|16"]))

        try await scene.database.run("DROP SCHEMA analytics CASCADE")
        try await scene.migrate()
        try await load(scene)
        #expect(try await users(scene) == ["bob|16"])
        // The new database does not know of the request until the receipts are applied.
        let stale = try await command(scene, "check")
        #expect(stale.ending == .exit(1))
        #expect(stale.output.contains { $0.contains("[erasure-undone]") }, "\(stale.output)")
        #expect(try await command(scene, "forget", "--again", "receipts").ending == .exit(0))
        let check = try await command(scene, "check")
        #expect(check.ending == .exit(0), "\(check.output)")
    }

    /// Loads the 20 records of the topic.
    private func load(_ scene: LoadScene) async throws {
        let loader = try scene.load(environment: Self.environment)
        try await scene.wait(for: Self.positions, toBe: ["20"], loader: loader)
        try await scene.stop(loader)
    }

    private func users(_ scene: LoadScene) async throws -> [String] {
        try await scene.database.run(
            "SELECT coalesce(user_id, '-') || '|' || count(*) FROM \(LoadScene.table) GROUP BY user_id ORDER BY 1"
        )
    }

    private func command(_ scene: LoadScene, _ arguments: String...) async throws -> Finished {
        try await command(scene, arguments)
    }

    private func command(_ scene: LoadScene, _ arguments: [String]) async throws -> Finished {
        try await Sluice.run(
            arguments + ["--events", LoadScene.plan, "--postgres", scene.database.url, "--no-console"],
            in: scene.folder,
            environment: Self.environment
        )
    }
}
