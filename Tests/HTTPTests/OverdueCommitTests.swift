import EventJournal
import EventPipeline
import Foundation
import Logging
import PipelineTestSupport
import ServerTestSupport
import SluiceHTTP
import SluiceTesting
import Synchronization
import TestPromises
import Testing

/// The responses while a commit to the journal does not complete.
@Suite("HTTP while the journal's disk hangs", .timeLimit(.minutes(5)))
struct OverdueCommitTests {
    private static func setup(_ files: any FileSystem, maximumBufferedBytes: Int = 64 << 20) -> TestServer.Setup {
        var setup = TestServer.Setup()
        // Longer than a slow disk needs when it does not hang.
        setup.http.maxWait = .seconds(4)
        setup.http.eventLoopCount = 1
        setup.http.maximumBufferedBytes = maximumBufferedBytes
        setup.makePipeline = { catalog, _, quarantine, logger in
            var configuration = Pipeline.Configuration.journaled
            // The pipeline stays ready, however long the commits of a test hang.
            configuration.commitOverdueAfter = .seconds(600)
            return try Pipeline(
                catalog: catalog,
                trackers: [CollectingTracker()],
                journal: Journal(files, configuration: JournalConfiguration(minimumFreeBytes: 0), now: 0),
                configuration: configuration,
                quarantine: quarantine,
                logger: logger
            )
        }
        return setup
    }

    /// A journal folder whose syncs hang while the gate is closed.
    private struct HangingJournal {
        let gate = Gate()
        let files: HookedFileSystem
        private let folder: TestFolder

        init() throws {
            folder = try TestFolder()
            files = HookedFileSystem(try PosixFileSystem(path: folder.path("journal")))
            files.setHook { [gate] in gate.pass() }
        }
    }

    @Test(
        "a commit in progress is answered with 504, later ones with 503; rejections are stored if their commit succeeds",
        .promise("hanging-disk")
    )
    func answers() async throws {
        let journal = try HangingJournal()
        try await TestServer.run(Self.setup(journal.files)) { server in
            try await RawClient.with(server.address) { client async throws in
                #expect(try await client.exchange(Requests.post()).status == 200)
                journal.gate.close()
                let mixed = #"[{"name":"Ping"},{"name":"Pong"}]"#
                let written = try await client.exchange(Requests.post(mixed))
                #expect(written.status == 504)
                #expect(written.body.hasPrefix(#"{"error":{"code":"outcome-unknown""#))
                #expect(written.field("retry-after") == nil)
                #expect(written.field("connection") == nil)
                let gathered = try await client.exchange(Requests.post(mixed))
                #expect(gathered.status == 503)
                #expect(gathered.body.hasPrefix(#"{"error":{"code":"not-stored""#))
                #expect(gathered.field("retry-after") == "4")
                #expect(server.pipeline.statistics.accepted == 1)
                #expect(try await server.quarantined().isEmpty)
                journal.gate.open()
                // Commits are made in order.
                #expect(try await client.exchange(Requests.post()).body == Requests.accepted)
                #expect(server.pipeline.statistics.accepted == 3)
                #expect(try await server.quarantined().count == 1)
            }
        }
    }

    @Test(
        "a commit in progress counts until it ends, even if its sender was answered or has disconnected",
        .promise("hanging-disk")
    )
    func memory() async throws {
        let journal = try HangingJournal()
        let body = "[" + Array(repeating: Requests.ping, count: 10_000).joined(separator: ",") + "]"
        // Room for one large body with the canonical lines made of it, but not for two.
        let setup = Self.setup(journal.files, maximumBufferedBytes: 3 << 20)
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client async throws in
                journal.gate.close()
                #expect(try await client.exchange(Requests.post(body)).status == 504)
                client.close()
            }
            try await RawClient.with(server.address) { client async throws in
                let refused = try await client.exchange(Requests.post(body))
                #expect(refused.status == 503)
                #expect(refused.body.hasPrefix(#"{"error":{"code":"overloaded""#))
            }
            journal.gate.open()
            try await RawClient.with(server.address) { client async throws in
                // This commit follows it in the journal, so the other one has ended.
                #expect(try await client.exchange(Requests.post()).status == 200)
                #expect(try await client.exchange(Requests.post(body)).status == 200)
            }
        }
    }
}
