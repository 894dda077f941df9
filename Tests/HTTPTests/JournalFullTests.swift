import EventJournal
import EventPipeline
import EventQuarantine
import EventValidation
import Foundation
import Logging
import ServerTestSupport
import SluiceHTTP
import SluiceTesting
import Synchronization
import TestPromises
import Testing
import TrackerKit

/// The responses while the journal has no room.
@Suite("HTTP while the journal is full", .timeLimit(.minutes(5)))
struct JournalFullTests {
    /// A small journal, and a tracker that delivers ten events each time a test releases it.
    private final class Scene: Sendable {
        let clock = ManualClock()
        let tracker = ScriptedTracker(name: "collecting", [.stall, .stall])
        private let journal = Mutex<Journal?>(nil)

        /// The number of the first event after the oldest segment.
        var oldestEnd: UInt64? { journal.withLock { $0?.position.segments.first?.nextSequence } }

        func makePipeline(_ catalog: EventCatalog, _ folder: URL, _ quarantine: Quarantine, _ logger: Logger) throws
            -> Pipeline
        {
            let journal = try Journal(
                folder: folder.appending(path: "journal").path,
                configuration: JournalConfiguration(segmentBytes: 1 << 16, maximumBytes: 4 << 16, minimumFreeBytes: 0),
                now: 0
            )
            self.journal.withLock { $0 = journal }
            return try Pipeline(
                catalog: catalog,
                trackers: [tracker],
                journal: journal,
                configuration: .init(
                    queue: .init(capacityInEvents: 100, fullPolicy: .spill),
                    delivery: .init(maximumEvents: 10, linger: .zero)
                ),
                quarantine: quarantine,
                logger: logger,
                clock: clock
            )
        }

        /// Advances the clock by a second, after which the pipeline has measured the tracker's progress.
        func passSecond() async {
            await clock.waitForSleeper(for: .seconds(1))
            clock.advance(by: .seconds(1))
            await clock.waitForSleeper(for: .seconds(1))
        }
    }

    @Test(
        "a key that has used its part of the journal's last fifth is refused, and other keys are not",
        .promise("fair-shares")
    )
    func shares() async throws {
        let scene = Scene()
        var setup = TestServer.Setup()
        setup.makePipeline = { try scene.makePipeline($0, $1, $2, $3) }
        setup.keys = [KeyedExchange.key("hog"), KeyedExchange.key("honest")]
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client in
                func post(_ events: Int, _ key: String) -> String {
                    let body = "[" + Array(repeating: Requests.ping, count: events).joined(separator: ",") + "]"
                    return Requests.post(body, fields: "Authorization: Bearer \(key)-key\r\n")
                }
                var response = try await client.exchange(post(20, "hog"))
                while response.status == 200 { response = try await client.exchange(post(20, "hog")) }
                #expect(response.status == 503)
                #expect(response.body.contains("journal-share-used"))
                #expect(response.field("retry-after") == "5")
                for _ in 0..<5 { #expect(try await client.exchange(post(1, "honest")).status == 200) }
                #expect(try await client.exchange(post(1, "hog")).status == 503)
            }
            scene.tracker.release()
            scene.tracker.release()
        }
    }

    @Test("Retry-After estimates when the oldest segment can be removed, from the tracker's rate")
    func retryAfter() async throws {
        let scene = Scene()
        var setup = TestServer.Setup()
        setup.makePipeline = { try scene.makePipeline($0, $1, $2, $3) }
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client in
                let body = "[" + Array(repeating: Requests.ping, count: 100).joined(separator: ",") + "]"
                var response = try await client.exchange(Requests.post(body))
                while response.status == 200 { response = try await client.exchange(Requests.post(body)) }
                #expect(response.status == 503)
                // Nothing has been delivered yet.
                #expect(response.field("retry-after") == "30")

                await scene.tracker.waitForDeliveries(1)
                await scene.passSecond()
                scene.tracker.release()
                await scene.tracker.waitForDeliveries(2)
                await scene.passSecond()
                #expect(scene.tracker.deliveries[0].count == 10)
                response = try await client.exchange(Requests.post(body))
                #expect(response.status == 503)
                // The tracker delivers ten events per second.
                let left = try #require(scene.oldestEnd) - 10
                #expect(left > 10 && left != 300)
                #expect(response.field("retry-after") == "\((left + 9) / 10)")
            }
            scene.tracker.release()
        }
    }
}
