import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The client for apps, in a process of its own that is killed, against the real server and PostgreSQL.
@Suite("The Swift client", .timeLimit(.minutes(10)))
struct SwiftClientTests {
    /// Nobody listens there.
    private static let nowhere = "http://127.0.0.1:1"
    private static let plan = RepositoryFile.url("Tests/ClientApp").path

    /// A server with a database, and the folder of the client's queue.
    private struct Scene {
        let folder: TestFolder
        let database: TestDatabase

        init() async throws {
            folder = try TestFolder()
            database = try await PrivatePostgres.shared().makeDatabase()
            let migrated = try await Sluice.run(
                "migrate",
                "--events",
                SwiftClientTests.plan,
                "--postgres",
                database.url,
                in: folder
            )
            #expect(migrated.ending == .exit(0))
        }

        func serve() async throws -> ServingSluice {
            try await ServingSluice.start("--postgres", database.url, in: folder, plan: SwiftClientTests.plan)
        }

        /// Starts the app, which tracks `count` events.
        func app(_ url: String, from first: Int, count: Int, label: String? = nil) throws -> SluiceProcess {
            let arguments = [url, folder.path("queue"), String(first), String(count)] + [label].compactMap { $0 }
            return try SluiceProcess(arguments, program: "ClientApp", in: folder)
        }

        /// The ids in the table, sorted.
        func ids() async throws -> [String] {
            try await database.run("SELECT id FROM analytics.button_pressed ORDER BY id")
        }

        /// The numbers in the table that are there more than once.
        func repeatedNumbers() async throws -> [String] {
            try await database.run("SELECT number FROM analytics.button_pressed GROUP BY number HAVING count(*) > 1")
        }

        /// Waits until all of these ids are in the table.
        func waitForRows(_ ids: Set<String>) async throws {
            while try await !Set(self.ids()).isSuperset(of: ids) { try await waitBriefly() }
        }
    }

    @Test(
        "an app that is killed offline and while it sends loses no event, and none arrives twice",
        .promise("client-queues")
    )
    func killed() async throws {
        let scene = try await Scene()
        var queued: Set<String> = []
        var first = 0
        /// Runs the app until it has queued this many events, and kills it.
        func killApp(at url: String, after count: Int) async throws {
            let app = try scene.app(url, from: first, count: 100_000)
            try await app.output?.waitForLines(count)
            app.send(SIGKILL)
            #expect(try await app.waitForEnd() == .signal(SIGKILL))
            queued.formUnion(app.output?.lines ?? [])
            first += 100_000
        }
        for count in [1, 37, 200] { try await killApp(at: Self.nowhere, after: count) }
        var server = try await scene.serve()
        for count in [50, 400] { try await killApp(at: server.url, after: count) }
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()
        try await killApp(at: server.url, after: 100)

        server = try await scene.serve()
        let last = try scene.app(server.url, from: first, count: 10)
        #expect(try await last.waitForEnd() == .exit(0))
        let lines = last.output?.lines ?? []
        #expect(lines.last == "done", "\(last.errors.lines.suffix(3))")
        queued.formUnion(lines.dropLast())
        try await scene.waitForRows(queued)
        // Beyond those that were reported as queued, each killed app may have queued one more.
        #expect(try await scene.ids().count <= queued.count + 6)
        #expect(try await scene.repeatedNumbers() == [])
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("a server that is killed while an app sends loses none of its events", .promise("client-queues"))
    func serverKilled() async throws {
        let scene = try await Scene()
        var server = try await scene.serve()
        let app = try scene.app(server.url, from: 0, count: 2000)
        try await app.output?.waitForLines(300)
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()
        try await app.output?.waitForLines(2000)
        app.send(SIGKILL)
        _ = try await app.waitForEnd()
        server = try await scene.serve()
        let next = try scene.app(server.url, from: 2000, count: 1)
        #expect(try await next.waitForEnd() == .exit(0))
        let queued = ((app.output?.lines ?? []) + (next.output?.lines ?? [])).filter { $0 != "done" }
        #expect(queued.count == 2001)
        try await scene.waitForRows(Set(queued))
        #expect(try await scene.ids().count == 2001)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("answers that are not Sluice's settle nothing, and a very long one does not end the app")
    func foreignAnswers() async throws {
        let scene = try await Scene()
        let server = try await scene.serve()
        let faults = ["portal", "400", "redirect", "endless"]
        let proxy = try ClientScript.start("faults", [server.url] + faults, in: scene.folder)
        defer { kill(proxy.processID, SIGKILL) }
        let url = try #require(await proxy.output?.line(containing: "http://"))
        let app = try scene.app(url, from: 0, count: 3)
        #expect(try await app.waitForEnd() == .exit(0))
        let lines = app.output?.lines ?? []
        #expect(lines.last == "done")
        try await scene.waitForRows(Set(lines.dropLast()))
        #expect(app.errors.lines.count { $0.contains("delayed") } == faults.count, "\(app.errors.lines)")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("an event that the server rejects is reported, and the others arrive", .promise("client-queues"))
    func rejected() async throws {
        let scene = try await Scene()
        let server = try await scene.serve()
        let invalid = try scene.app(server.url, from: 0, count: 3, label: "UPPER")
        #expect(try await invalid.waitForEnd() == .exit(0))
        #expect(invalid.output?.lines.last == "done")
        #expect(invalid.errors.lines.contains { $0.contains("pattern-mismatch") })
        let valid = try scene.app(server.url, from: 3, count: 3, label: "lower")
        #expect(try await valid.waitForEnd() == .exit(0))
        try await scene.waitForRows(Set((valid.output?.lines ?? []).filter { $0 != "done" }))
        #expect(try await scene.ids().count == 3)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
