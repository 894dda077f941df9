import CLibRDKafka
import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The receipts of `sluice forget` in `sluice check` and in running processes.
@Suite("The receipts of sluice forget", .timeLimit(.minutes(5)))
struct ReceiptTests {
    private static let sold = #"{"name":"Sold","payload":{"quantity":1},"#

    private let folder: TestFolder
    private let database: TestDatabase
    private let environment = [
        "SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key", "SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts",
    ]

    init() async throws {
        folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres"), to: "plan/shop.plist")
        try folder.write("a key of enough bytes\n", to: "hash.key")
        try FileManager.default.createDirectory(atPath: folder.path("receipts"), withIntermediateDirectories: false)
        database = try await Self.makeDatabase(folder)
    }

    private static func makeDatabase(_ folder: TestFolder) async throws -> TestDatabase {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migration = try await Sluice.run("migrate", "--events", "plan", "--postgres", database.url, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        return database
    }

    private func sluice(
        _ arguments: String...,
        url: String? = nil,
        changing environment: [String: String] = [:]
    ) async throws -> Finished {
        let fixed = ["--events", "plan", "--postgres", url ?? database.url, "--no-console"]
        let environment = self.environment.merging(environment) { $1 }
        return try await Sluice.run(arguments + fixed, in: folder, environment: environment)
    }

    private func forgetAda() async throws {
        // Without a journal, nothing waits for a tracker.
        let forget = try await sluice("forget", "--user", "ada", "--no-journal")
        #expect(forget.ending == .exit(0), "\(forget.errors)")
    }

    /// Moves the only receipt away; returns the name of its file.
    private func removeReceipt() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("receipts"))
        let name = try #require(names.first)
        try FileManager.default.moveItem(atPath: folder.path("receipts/\(name)"), toPath: folder.path(name))
        return name
    }

    private func rows() async throws -> [String] {
        try await database.run("SELECT coalesce(user_id, '-') FROM analytics.sold ORDER BY 1")
    }

    // MARK: sluice check

    @Test("with a relay, check compares the receipts with the loader's database", .promise("erased-person"))
    func relay() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("shared", partitions: 1)
        let relay = ["SLUICE_RELAY_URL": "kafka://\(cluster.bootstrapServers)/shared"]
        try await forgetAda()
        let check = try await sluice("check", "--timeout", "60", changing: relay)
        #expect(check.ending == .exit(0), "\(check.output) \(check.errors)")
        let restored = try await Self.makeDatabase(folder)
        let stale = try await sluice("check", "--timeout", "60", url: restored.url, changing: relay)
        #expect(stale.ending == .exit(1))
        #expect(stale.output.contains { $0.contains("[erasure-undone]") }, "\(stale.output)")
    }

    @Test("check fails if a receipt is missing, or was made with another key, or if there is no folder")
    func receipts() async throws {
        try await forgetAda()
        #expect(try await sluice("check").ending == .exit(0))
        try folder.write("another key of enough bytes\n", to: "other.key")
        let other = try await sluice("check", changing: ["SLUICE_PRIVACY_HASH_KEY_FILE": "other.key"])
        #expect(other.ending == .exit(1))
        #expect(other.output.contains { $0.contains("[receipt-of-another-key]") }, "\(other.output)")
        _ = try removeReceipt()
        let missing = try await sluice("check")
        #expect(missing.ending == .exit(1))
        #expect(missing.output.contains { $0.contains("[receipt-missing]") }, "\(missing.output)")
        try FileManager.default.removeItem(atPath: folder.path("receipts"))
        let none = try await sluice("check")
        #expect(none.ending == .exit(1))
        #expect(none.output.contains { $0.contains("[receipts-unreadable]") }, "\(none.output)")
    }

    @Test("check fails if a role may not read the tombstones that it has to compare")
    func unchecked() async throws {
        try await forgetAda()
        try await database.run(
            """
            DO $$BEGIN CREATE ROLE receipts_checker LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$;
            GRANT USAGE ON SCHEMA analytics TO receipts_checker;
            GRANT ALL ON ALL TABLES IN SCHEMA analytics TO receipts_checker;
            REVOKE ALL ON analytics._sluice_forgotten FROM receipts_checker
            """
        )
        let url = database.url(role: "receipts_checker")
        let check = try await sluice("check", url: url)
        #expect(check.ending == .exit(1))
        #expect(check.output.contains { $0.contains("[receipts-unchecked]") }, "\(check.output)")
        try await database.run("GRANT SELECT ON analytics._sluice_forgotten TO receipts_checker")
        let allowed = try await sluice("check", url: url)
        #expect(allowed.ending == .exit(0), "\(allowed.output)")
    }

    // MARK: Running processes

    @Test(
        "a running server learns of a receipt, and applies it even after the receipt has disappeared, which it logs",
        .promise("erased-person")
    )
    func running() async throws {
        let server = try await ServingSluice.start(
            "--postgres",
            database.url,
            "--no-console",
            in: folder,
            plan: "plan",
            environment: environment
        )
        #expect(try await Sluice.run("pause", "postgres", in: folder).ending == .exit(0))
        _ = try await server.process.errors.line(containing: "The tracker was paused")
        let events = ["ada", "bob"].map { Self.sold + #""userId":"\#($0)"}"# }.joined(separator: "\n")
        let answer = try await server.post(events, type: "application/x-ndjson")
        #expect(answer.status == 200, "\(answer.body)")

        try await forgetAda()
        _ = try await server.process.errors.line(containing: "Tombstones of erased people apply.")
        let receipt = try removeReceipt()
        _ = try await server.process.errors.line(containing: "1 receipt disappeared from 'receipts'")
        try FileManager.default.removeItem(atPath: folder.path("receipts"))
        _ = try await server.process.errors.line(containing: "there is no folder 'receipts'")

        #expect(try await Sluice.run("resume", "postgres", in: folder).ending == .exit(0))
        while try await rows() != ["bob"] { try await waitBriefly() }
        let restored = "receipts/\(receipt)"
        try FileManager.default.createDirectory(atPath: folder.path("receipts"), withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: folder.path(receipt), toPath: folder.path(restored))
        _ = try await server.process.errors.line(containing: "All receipts can be read again.")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(try await rows() == ["bob"])
    }

    @Test("serve does not start without the folder, since its file system may not be mounted")
    func noFolder() async throws {
        try FileManager.default.removeItem(atPath: folder.path("receipts"))
        let serve = try await sluice("serve", "--listen", "127.0.0.1:0")
        #expect(serve.ending == .exit(1))
        #expect(serve.errors.contains { $0.contains("there is no folder 'receipts'") }, "\(serve.errors)")
    }

    @Test("a folder that forget creates, also as root, belongs to the owner of the folder around it")
    func owner() async throws {
        // Only root can have a folder around it that belongs to somebody else.
        let nobody: uid_t = geteuid() == 0 ? 65534 : geteuid()
        let state = folder.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try #require(chown(state, nobody, geteuid() == 0 ? nobody : getegid()) == 0)
        let receipts = "state/new/receipts"
        let forget = try await sluice(
            "forget",
            "--user",
            "ada",
            changing: ["SLUICE_PRIVACY_RECEIPTS_FOLDER": receipts]
        )
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(receipts))
        try #require(names.count == 1)
        for path in ["state/new", receipts, "\(receipts)/\(names[0])"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(path))
            #expect(attributes[.ownerAccountID] as? Int == Int(nobody), "\(path)")
        }
    }
}
