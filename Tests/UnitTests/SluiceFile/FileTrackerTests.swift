import EventModel
import EventSchema
import EventValidation
import Foundation
import PipelineTestSupport
import SluiceFile
import SluiceTesting
import Testing
import TrackerKit

@Suite("A tracker that writes files", .timeLimit(.minutes(5)))
struct FileTrackerTests {
    @Test(
        "writes each event to the file of its name and hour, in order",
        arguments: FileConfiguration.PathTime.allCases
    )
    func files(pathTime: FileConfiguration.PathTime) async throws {
        let archive = try Archive()
        let tracker = archive.tracker("archive/{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson") { $0.pathTime = pathTime }
        try await tracker.start(for: Archive.catalog)
        let start: Int64 = 1_700_000_000_000_000
        let deliveries = [
            Delivery.numbered(0..<3), .numbered(3..<5, "../Returned"),
            .numbered(5..<8) {
                $0.receivedAt = Timestamp(microseconds: start + 3_600_000_000)
                $0.time = Timestamp(microseconds: start - 86_400_000_000)
            },
            .numbered(8..<9),
        ]
        // All at once, so that the events of a file are not together.
        let outcome = await tracker.deliver(Delivery(deliveries.flatMap(\.slices)))
        #expect(outcome.retry == nil && outcome.refusals.isEmpty)
        #expect(archive.files() == [])
        #expect(archive.files(unfinished: true).count == 3)
        await tracker.stop()
        let other = pathTime == .arrival ? "2023-11-14/23-n.ndjson" : "2023-11-13/22-n.ndjson"
        let files = [
            "archive/%2E.%2FReturned/2023-11-14/22-n.ndjson": deliveries[1].lines,
            "archive/Sold/\(other)": deliveries[2].lines,
            "archive/Sold/2023-11-14/22-n.ndjson": deliveries[0].lines + deliveries[3].lines,
        ]
        #expect(archive.files() == files.keys.sorted())
        for (file, lines) in files { #expect(try archive.lines(of: file) == lines) }
        #expect(!archive.exists("archive/.partial"))
    }

    @Test("compresses each delivery to a whole member, so that the unfinished file can be read")
    func compressed() async throws {
        let archive = try Archive()
        let tracker = archive.tracker("archive/all.ndjson.gz")
        try await tracker.start(for: Archive.catalog)
        var lines: [String] = []
        for number in 0..<5 {
            let delivery = Delivery.numbered(number * 100..<number * 100 + 100)
            #expect(await tracker.deliver(delivery).retry == nil)
            lines += delivery.lines
            let unfinished = try #require(archive.files(unfinished: true).first)
            #expect(try archive.lines(of: unfinished) == lines)
        }
        await tracker.stop()
        #expect(archive.files() == ["archive/all.ndjson.gz"])
        #expect(try archive.bytes(of: "archive/all.ndjson.gz").count < lines.joined().utf8.count / 2)
        #expect(try archive.lines(of: "archive/all.ndjson.gz") == lines)
    }

    @Test("completes a file that is large enough, and never replaces one")
    func size() async throws {
        let archive = try Archive()
        try archive.write(Array("mine".utf8), to: "archive/Sold.ndjson")
        let size = Delivery.numbered(0..<10).byteCount
        let tracker = archive.tracker { $0.maximumFileBytes = size * 2 }
        try await tracker.start(for: Archive.catalog)
        for number in 0..<5 {
            #expect(await tracker.deliver(.numbered(number * 10..<number * 10 + 10)).retry == nil)
            #expect(archive.files().count == 1 + (number + 1) / 2)
        }
        await tracker.stop()
        #expect(
            archive.files() == [
                "archive/Sold+2.ndjson", "archive/Sold+3.ndjson", "archive/Sold+4.ndjson", "archive/Sold.ndjson",
            ]
        )
        #expect(try archive.bytes(of: "archive/Sold.ndjson") == Array("mine".utf8))
        let lines = try (2...4).flatMap { try archive.lines(of: "archive/Sold+\($0).ndjson") }
        #expect(lines == Delivery.numbered(0..<50).lines)
    }

    @Test("completes a file that is old enough, while nothing is delivered")
    func age() async throws {
        let archive = try Archive()
        let clock = ManualClock()
        let tracker = archive.tracker(clock: clock) { $0.maximumAge = .seconds(60) }
        try await tracker.start(for: Archive.catalog)
        #expect(await tracker.deliver(.numbered(0..<1)).retry == nil)
        await clock.waitForSleeper(for: .seconds(60))
        clock.advance(by: .seconds(20))
        #expect(await tracker.deliver(.numbered(0..<1, "../Returned")).retry == nil)
        #expect(await tracker.deliver(.numbered(1..<2)).retry == nil)
        clock.advance(by: .seconds(39))
        #expect(archive.files() == [])
        clock.advance(by: .seconds(1))
        while archive.files() != ["archive/Sold.ndjson"] {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try archive.lines(of: "archive/Sold.ndjson") == Delivery.numbered(0..<2).lines)
        await clock.waitForSleeper(for: .seconds(20))
        clock.advance(by: .seconds(20))
        while archive.files().count < 2 || archive.files(unfinished: true) != [] {
            try Task.checkCancellation()
            await Task.yield()
        }
        await tracker.stop()
    }

    @Test("writes to more files than are open at a time")
    func manyFiles() async throws {
        let archive = try Archive()
        let names = (0..<300).map { "Event \($0)" }
        let catalog = EventCatalog(
            plan: TrackingPlan(
                events: names.enumerated().map { index, name in
                    EventDefinition(
                        key: name,
                        trackers: ["file"],
                        location: PlanLocation(file: "many.plist", line: index + 1, column: 1)
                    )
                }
            )
        )
        let tracker = archive.tracker("archive/{event}.ndjson.gz")
        try await tracker.start(for: catalog)
        for number in 0..<3 {
            let slices = names.flatMap { Delivery.numbered(number..<number + 1, $0, of: catalog).slices }
            #expect(await tracker.deliver(Delivery(slices)).retry == nil)
        }
        #expect(archive.files(unfinished: true).count == names.count)
        await tracker.stop()
        #expect(archive.files().count == names.count)
        for name in names {
            #expect(
                try archive.lines(of: "archive/\(name).ndjson.gz")
                    == Delivery.numbered(0..<3, name, of: catalog).lines
            )
        }
    }

    @Test("shares a folder with another one of the same name and path, and each event is there once")
    func twoTrackers() async throws {
        let archive = try Archive()
        let trackers = [archive.tracker(), archive.tracker(), archive.tracker { $0.name = "other" }]
        var lines: [String] = []
        for round in 0..<10 {
            for (index, tracker) in trackers.enumerated() {
                // The second one starts while the first one is writing.
                if round == 0 { try await tracker.start(for: Archive.catalog) }
                let number = round * trackers.count + index
                let delivery = Delivery.numbered(number..<number + 1)
                #expect(await tracker.deliver(delivery).retry == nil)
                lines += delivery.lines
            }
        }
        #expect(archive.files(unfinished: true).count == 3)
        for tracker in trackers { await tracker.stop() }
        #expect(archive.files() == ["archive/Sold+2.ndjson", "archive/Sold+3.ndjson", "archive/Sold.ndjson"])
        #expect(try archive.files().flatMap { try archive.lines(of: $0) }.sorted() == lines.sorted())
        #expect(!archive.exists("archive/.partial"))
    }

    @Test("notes that an unfinished file was removed, and writes a new one")
    func disappeared() async throws {
        let archive = try Archive()
        let log = RecordingLog()
        let tracker = archive.tracker(logger: log.logger)
        try await tracker.start(for: Archive.catalog)
        #expect(await tracker.deliver(.numbered(0..<1)).retry == nil)
        try archive.remove(try #require(archive.files(unfinished: true).first))
        #expect(await tracker.deliver(.numbered(1..<2)).retry == nil)
        await tracker.stop()
        #expect(try archive.lines(of: "archive/Sold.ndjson") == Delivery.numbered(1..<2).lines)
        #expect(log.all.count { $0.hasPrefix("An unfinished file has disappeared") } == 1)
    }

    @Test("retries while the folder is gone, and continues with the same file once it is back")
    func outage() async throws {
        let archive = try Archive()
        let tracker = archive.tracker()
        try await tracker.start(for: Archive.catalog)
        #expect(await tracker.deliver(.numbered(0..<1)).retry == nil)
        try archive.move("archive", to: "away")
        try archive.write([], to: "archive")
        let reason = try #require(await tracker.deliver(.numbered(1..<2)).retry?.reason)
        #expect(reason.code == .notPrepared)
        try archive.remove("archive")
        try archive.move("away", to: "archive")
        #expect(await tracker.deliver(.numbered(1..<2)).retry == nil)
        await tracker.stop()
        #expect(try archive.lines(of: "archive/Sold.ndjson") == Delivery.numbered(0..<2).lines)
    }

    @Test("delivers while a file cannot be given its name, and tries that again", arguments: [false, true])
    func blockedName(isLink: Bool) async throws {
        let archive = try Archive()
        let clock = ManualClock()
        let log = RecordingLog()
        let tracker = archive.tracker("archive/{event}/all.ndjson", clock: clock, logger: log.logger) {
            $0.maximumFileBytes = 1
        }
        try await tracker.start(for: Archive.catalog)
        try archive.write([], to: "outside/file")
        if isLink {
            try FileManager.default.createSymbolicLink(
                atPath: archive.path("archive/Sold"),
                withDestinationPath: archive.path("outside")
            )
        } else {
            try archive.write([], to: "archive/Sold")
        }
        for number in 0..<2 { #expect(await tracker.deliver(.numbered(number..<number + 1)).retry == nil) }
        #expect(archive.files(unfinished: true).count == 2)
        #expect(log.all.count { $0.hasPrefix("A complete file cannot be given its name") } == 1)
        await clock.waitForSleeper(for: .seconds(10))
        try archive.remove("archive/Sold")
        // A new file gets its name at once; those that wait are not tried again with each delivery.
        #expect(await tracker.deliver(.numbered(2..<3)).retry == nil)
        #expect(archive.files(unfinished: true).count == 2)
        #expect(try archive.lines(of: "archive/Sold/all.ndjson") == Delivery.numbered(2..<3).lines)
        clock.advance(by: .seconds(10))
        while archive.files(unfinished: true).count > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        await tracker.stop()
        #expect(
            archive.files() == [
                "archive/Sold/all+2.ndjson", "archive/Sold/all+3.ndjson", "archive/Sold/all.ndjson", "outside/file",
            ]
        )
        let lines = try ["all", "all+2", "all+3"].flatMap { try archive.lines(of: "archive/Sold/\($0).ndjson") }
        #expect(lines.sorted() == Delivery.numbered(0..<3).lines.sorted())
    }

    @Test("gives a file its name even if somebody has made another link to it")
    func otherLink() async throws {
        let archive = try Archive()
        let tracker = archive.tracker()
        try await tracker.start(for: Archive.catalog)
        #expect(await tracker.deliver(.numbered(0..<1)).retry == nil)
        try FileManager.default.linkItem(
            atPath: archive.path(try #require(archive.files(unfinished: true).first)),
            toPath: archive.path("archive/copy")
        )
        await tracker.stop()
        #expect(archive.files() == ["archive/Sold.ndjson", "archive/copy"])
        #expect(archive.files(unfinished: true) == [])
        #expect(try archive.lines(of: "archive/Sold.ndjson") == Delivery.numbered(0..<1).lines)
    }

    @Test("finds what is wrong with its folder, and leaves nothing there")
    func problems() async throws {
        let archive = try Archive()
        let outline = PipelineOutline(catalog: Archive.catalog, hasJournal: true)
        #expect(await archive.tracker().problems(in: outline).isEmpty)
        #expect(!archive.exists("archive"))
        try archive.write([], to: "archive/file")
        #expect(await archive.tracker().problems(in: outline).isEmpty)
        #expect(archive.files() == ["archive/file"])
        #expect(archive.files(unfinished: true) == [])
        for path in ["missing/archive/{event}", "archive/file/{event}"] {
            let problems = await archive.tracker(path).problems(in: outline)
            #expect(problems.map(\.code) == [.notPrepared])
            let tracker = archive.tracker(path)
            await #expect(throws: TrackerError.self) { try await tracker.start(for: Archive.catalog) }
            await tracker.stop()
        }
        #expect(archive.files() == ["archive/file"])
    }

    @Test("does not start with a path that cannot be used")
    func settings() {
        let tracker = FileTracker(FileConfiguration(path: "a/{hour}"), logger: Archive.silent)
        let error = #expect(throws: TrackerError.self) { try tracker.checkSettings(for: Archive.catalog) }
        #expect(error?.code == .invalidSettings)
        #expect(error?.message.hasPrefix("The path is invalid: '{hour}' is not a placeholder") == true)
    }
}
