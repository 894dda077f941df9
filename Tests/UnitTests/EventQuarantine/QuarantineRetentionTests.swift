import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Foundation
import Logging
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("The age limit of a quarantine", .timeLimit(.minutes(5)))
struct QuarantineRetentionTests {
    private static let day = Duration.seconds(86_400)
    private static let start: Int64 = 1_700_000_000_000_000

    private let verdicts = SimulatedFileSystem(seed: 1)
    private let refusals = SimulatedFileSystem(seed: 2)
    private let clock = ManualClock()
    private let log = RecordingLog()

    /// Opens the quarantine so many days after the first opening.
    private func open(after days: Int64 = 0, unclaimed: UnclaimedParts? = nil) throws -> Quarantine {
        let (clock, origin) = (clock, clock.now)
        return try Quarantine(
            verdicts: verdicts,
            refusals: refusals,
            capacities: (1 << 20, 1 << 20),
            retention: .seconds(90 * 86_400),
            unclaimed: unclaimed,
            logger: log.logger,
            clock: clock,
            now: {
                let elapsed = origin.duration(to: clock.now).components.seconds
                return Timestamp(microseconds: Self.start + (days * 86_400 + elapsed) * 1_000_000)
            }
        )
    }

    private func store(_ number: Int64, in quarantine: Quarantine) async throws {
        let violation = Violation(code: .wrongType, path: "$", expected: "a", found: "b")
        let rejection = Rejection(
            index: 0,
            id: nil,
            name: nil,
            violations: [violation],
            original: Array(#"{"rejected":\#(number)}"#.utf8)
        )
        quarantine.keep([rejection], source: "http", planVersion: nil)
        await quarantine.drain()
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let batch = EventBatch.scripted(catalog: catalog, events: [ScriptedEvent("A", number: Int(number))])
        try await quarantine.keep([(TrackedEvent(batch: batch, index: 0), "no")], refusedBy: "alpha")
    }

    private func count(_ files: SimulatedFileSystem) throws -> Int { try JournalSample.lines(of: files).count }

    @Test(
        "events of both kinds are removed once they are older than it, and no sooner; later ones stay",
        .promise("quarantine-retention")
    )
    func removed() async throws {
        let quarantine = try open()
        for day: Int64 in 0..<3 {
            try await store(day, in: quarantine)
            clock.advance(by: Self.day)
            await quarantine.removeExpired()
        }
        #expect(try count(verdicts) == 3 && count(refusals) == 3)
        // Day 89, 90 and 91 after the first events.
        clock.advance(by: .seconds(86 * 86_400))
        await quarantine.removeExpired()
        #expect(try count(verdicts) == 3 && count(refusals) == 3)
        clock.advance(by: Self.day)
        await quarantine.removeExpired()
        #expect(try count(verdicts) == 2 && count(refusals) == 2)
        clock.advance(by: .seconds(10 * 86_400))
        await quarantine.removeExpired()
        #expect(try count(verdicts) == 0 && count(refusals) == 0)
        #expect(
            log.all.contains { $0.hasPrefix("Events in the quarantine reached its age limit and were removed.") }
        )
        // It still stores events.
        try await store(7, in: quarantine)
        #expect(try count(verdicts) == 1 && count(refusals) == 1)
    }

    @Test("a pipeline without a journal removes them every hour", .promise("quarantine-retention"))
    func pipelineWithoutJournal() async throws {
        let quarantine = try open()
        try await store(0, in: quarantine)
        let pipeline = try Pipeline(
            catalog: .scripted(["A": ["alpha"]]),
            trackers: [ScriptedTracker(name: "alpha")],
            quarantine: quarantine,
            logger: log.logger,
            clock: clock,
            jitter: { 1 }
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            while try count(verdicts) + count(refusals) > 0 {
                try Task.checkCancellation()
                clock.advance(by: .seconds(3600))
                await Task.yield()
            }
            pipeline.shutdown()
            try await group.waitForAll()
        }
    }

    @Test(
        "the time in which nothing ran counts an hour after the opening, so a wrong clock can be corrected before",
        .promise("quarantine-retention")
    )
    func reopened() async throws {
        do { try await store(0, in: try open()) }
        let quarantine = try open(after: 200)
        await quarantine.removeExpired()
        #expect(try count(refusals) == 1)
        clock.advance(by: .seconds(3600))
        await quarantine.removeExpired()
        #expect(try count(refusals) == 0 && count(verdicts) == 0)
    }

    @Test(
        "what a process that has ended left in a part that no process takes again is removed as well",
        .promise("quarantine-retention")
    )
    func unclaimed() async throws {
        let folder = TemporaryFolder()
        do {
            let ended = try Quarantine(
                folder: folder.path,
                logger: log.logger,
                now: { Timestamp(microseconds: Self.start) }
            )
            try await store(0, in: ended)
        }
        let quarantine = try open(unclaimed: UnclaimedParts(QuarantineFolder(path: folder.path)))
        clock.advance(by: .seconds(89 * 86_400))
        await quarantine.removeExpired()
        #expect(try QuarantineContents.lines(in: folder.path).count == 2)
        clock.advance(by: Self.day)
        await quarantine.removeExpired()
        // The ended quarantine may be released late, and is tried again an hour later.
        while try !QuarantineContents.lines(in: folder.path).isEmpty {
            try Task.checkCancellation()
            clock.advance(by: .seconds(3600))
            await quarantine.removeExpired()
        }
    }

    @Test("what the disk does not let go is removed the next time", .promise("quarantine-retention"))
    func failing() async throws {
        let quarantine = try open()
        try await store(0, in: quarantine)
        clock.advance(by: .seconds(91 * 86_400))
        refusals.withState { $0.failsFolderSyncs = true }
        await quarantine.removeExpired()
        #expect(log.all.contains { $0.contains("could not be removed; the server will try again in an hour.") })
        refusals.withState { $0.failsFolderSyncs = false }
        await quarantine.removeExpired()
        #expect(try count(refusals) == 0)
    }
}
