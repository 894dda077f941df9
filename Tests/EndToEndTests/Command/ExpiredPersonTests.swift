import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Foundation
import Logging
import PipelineTestSupport
import PlanReading
import ServerTestSupport
import SluiceTesting
import TestPromises
import Testing

@Suite("sluice forget and what expires", .timeLimit(.minutes(5)))
struct ExpiredPersonTests {
    private let scene: ForgetScene

    init() async throws {
        scene = try await ForgetScene()
    }

    /// The files of the journal and the quarantine that contain the canary.
    private func files() throws -> [String] {
        try ["journal", "quarantine"].flatMap { name in
            try FileManager.default.subpathsOfDirectory(atPath: scene.folder.path(name)).map { "\(name)/\($0)" }
        }
        .filter { path in
            // A folder cannot be read, and a file may be removed meanwhile.
            let data = try? Data(contentsOf: scene.folder.url.appending(path: path))
            return data?.range(of: Data(ForgetScene.canary.utf8)) != nil
        }
    }

    /// The dates of the receipt for what `serve` removes by itself, by place.
    private func dates() throws -> [String: Timestamp] {
        let remains = try #require(try scene.receipt()["remains"] as? [[String: Any]])
        let dated = remains.compactMap { remainder -> (String, Timestamp)? in
            guard let place = remainder["place"] as? String, let until = remainder["until"] as? String else {
                return nil
            }
            return Timestamp(until).map { (place, $0) }
        }
        return Dictionary(uniqueKeysWithValues: dated)
    }

    @Test(
        "after the dates of the receipt, no file of the journal and of the quarantine has the person",
        .promise("erased-person")
    )
    func expired() async throws {
        let rejected = #"{"name":"Seen","userId":"\#(ForgetScene.user)","payload":{}}"#
        _ = try await scene.serve(ForgetScene.events + [rejected], rows: 8)
        let segment = try #require(try files().first { $0.hasPrefix("journal/") })
        // What a crash leaves of a commit, which the next opening saves beside the segment.
        let handle = try #require(FileHandle(forWritingAtPath: scene.folder.path(segment)))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(ForgetScene.canary.utf8))
        try handle.close()
        _ = try await scene.serve([], rows: 8)
        let forget = try await scene.sluice("forget", "--user", ForgetScene.user)
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(Set(try files().map { ($0 as NSString).pathExtension }) == ["segment", "cut"])
        #expect(try files().contains { $0.hasPrefix("quarantine/") })

        let dates = try dates()
        let latest = try #require(dates.values.max())
        #expect(dates.keys.sorted() == ["journal", "journal's .cut files", "quarantine"])
        try await open(at: latest)
        #expect(try files() == [])
    }

    /// Opens the journal and the quarantine at a time, as `serve` does, until both have removed what is too old then.
    private func open(at time: Timestamp) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let clock = ManualClock()
        let plan = try #require(PlanReader().read(paths: [scene.folder.path("plan")]).plan)
        let parts = scene.folder.path("quarantine")
        let quarantine = try Quarantine(
            verdicts: PosixFileSystem(path: "\(parts)/verdicts/0"),
            refusals: PosixFileSystem(path: "\(parts)/refused/0"),
            capacities: (64 << 20, 64 << 20),
            logger: logger,
            clock: clock,
            now: { time }
        )
        let pipeline = try Pipeline(
            catalog: EventCatalog(plan: plan),
            trackers: [ScriptedTracker(name: "postgres")],
            journal: Journal(
                folder: scene.folder.path("journal"),
                configuration: JournalConfiguration(),
                now: time.microseconds
            ),
            quarantine: quarantine,
            logger: logger,
            clock: clock,
            now: { time }
        )
        let running = Task { try await pipeline.run() }
        // The pipeline looks for old segments by its clock.
        while try files().contains(where: { $0.hasPrefix("journal/") }) {
            try Task.checkCancellation()
            await clock.waitForSleeper(for: .seconds(1))
            clock.advance(by: .seconds(60))
        }
        await quarantine.removeExpired()
        running.cancel()
        _ = await running.result
    }
}
