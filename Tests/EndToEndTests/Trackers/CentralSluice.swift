import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Another `sluice serve`, to which a tracker of type `sluice` forwards events, and which loads them into a database.
final class CentralSluice {
    let database: TestDatabase
    /// The key that senders need.
    let writeKey: String
    /// `host:port`, which stays the same.
    private let address: String
    private let folder: TestFolder
    private var process: SluiceProcess

    /// Starts it with a plan, whose events name the tracker `postgres`, and an empty database.
    init(plan: String, _ database: TestDatabase) async throws {
        self.database = database
        folder = try TestFolder()
        try folder.write(plan, to: "events/plan.plist")
        let migration = try await Sluice.run(
            ["migrate", "--events", "events", "--postgres", database.url],
            in: folder
        )
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        let key = try await Sluice.run("keys", "new", "edge", "--keys", "keys.json", in: folder)
        #expect(key.ending == .exit(0), "\(key.errors)")
        writeKey = try #require(key.output.first)
        process = try Self.process(database, in: folder, at: "127.0.0.1:0")
        let line = try await process.errors.line(containing: "The server accepts events.")
        address = String(try #require(line.firstMatch(of: /url=http:\/\/([^\/]+)\/v1\/events/)?.1))
    }

    var url: String { "http://\(address)" }

    /// Ends it with SIGKILL.
    func crash() async throws {
        process.send(SIGKILL)
        #expect(try await process.waitForEnd() == .signal(SIGKILL))
    }

    /// Starts it again, at the same address.
    func restart() async throws {
        process = try Self.process(database, in: folder, at: address)
        _ = try await process.errors.line(containing: "The server accepts events.")
    }

    /// Suspends it: its kernel still accepts connections, and nothing is answered.
    func suspend() { process.send(SIGSTOP) }

    /// Lets it answer again.
    func resume() { process.send(SIGCONT) }

    /// Lets it load what it has accepted, and ends it.
    func end() async throws {
        process.send(SIGTERM)
        #expect(try await process.waitForEnd() == .exit(0))
    }

    private static func process(
        _ database: TestDatabase,
        in folder: TestFolder,
        at address: String
    ) throws -> SluiceProcess {
        try SluiceProcess(
            [
                "serve", "--events", "events", "--no-admin", "--no-console", "--postgres", database.url, "--keys",
                "keys.json", "--listen", address,
            ],
            in: folder
        )
    }
}
