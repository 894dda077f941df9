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

    /// Those of a place that the receipt names.
    private func files(of place: String) throws -> [String] {
        let suffix = place == "journal's .cut files" ? ".cut" : ".segment"
        let folder = place == "quarantine" ? "quarantine/" : "journal/"
        return try files().filter { $0.hasPrefix(folder) && $0.hasSuffix(suffix) }
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
        "after the dates of the receipt, no file of the journal and of the quarantine contains the person's identifiers",
        .promise("erased-person")
    )
    func expired() async throws {
        let rejected = #"{"name":"Seen","userId":"\#(ForgetScene.user)","payload":{}}"#
        _ = try await scene.serve(ForgetScene.events + [rejected], rows: 8)
        let segment = try #require(try files().first { $0.hasPrefix("journal/") })
        // A torn commit, as after a crash; the next start moves it to a `.cut` file.
        let handle = try #require(FileHandle(forWritingAtPath: scene.folder.path(segment)))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(ForgetScene.canary.utf8))
        try handle.close()
        // The numbers that the cut commit may have used are skipped; they count as not delivered until the tracker has passed them.
        _ = try await scene.serve([], rows: 8) { try lag() == 0 }
        let forget = try await scene.sluice("forget", "--user", ForgetScene.user)
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(Set(try files().map { ($0 as NSString).pathExtension }) == ["segment", "cut"])
        #expect(try files().contains { $0.hasPrefix("quarantine/") })

        let dates = try dates()
        let places = ["journal", "journal's .cut files", "quarantine"]
        #expect(dates.keys.sorted() == places)
        for place in places { #expect(try files(of: place) != []) }
        for (place, date) in dates.sorted(by: { $0.value < $1.value }) {
            try await open(at: date) { try files(of: place) == [] }
        }
        #expect(try files() == [])
    }

    /// How many events the tracker has not got, by the journal's files.
    private func lag() throws -> UInt64? {
        let found = try Inspection(ExistingJournal(reading: scene.folder.path("journal")).files)
        return found.cursors.map(found.lag).max()
    }

    /// Opens the journal as soon as it is free: tasks of the previous pipeline may hold it for a moment after `run` returns.
    private func journal(at time: Timestamp) async throws -> Journal {
        while true {
            do throws(JournalError) {
                return try Journal(
                    folder: scene.folder.path("journal"),
                    configuration: JournalConfiguration(),
                    now: time.microseconds
                )
            } catch {
                guard error.code == .locked else { throw error }
            }
            try await waitBriefly()
        }
    }

    /// Opens the journal and the quarantine at a time, as `serve` does, until what is too old then was removed.
    private func open(at time: Timestamp, until isRemoved: () throws -> Bool) async throws {
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
        let pipeline = try await Pipeline(
            catalog: EventCatalog(plan: plan),
            trackers: [ScriptedTracker(name: "postgres")],
            journal: journal(at: time),
            quarantine: quarantine,
            logger: logger,
            clock: clock,
            now: { time }
        )
        try await withThrowingTaskGroup { group in
            group.addTask {
                do {
                    try await pipeline.run()
                } catch  where !Task.isCancelled {
                    Issue.record(error)
                }
            }
            // The pipeline looks for old segments by its clock.
            group.addTask {
                while true {
                    await clock.waitForSleeper(for: .seconds(1))
                    try Task.checkCancellation()
                    clock.advance(by: .seconds(60))
                    try await waitBriefly()
                }
            }
            while try !isRemoved() {
                try await waitBriefly()
                await quarantine.removeExpired()
            }
            group.cancelAll()
        }
    }
}
