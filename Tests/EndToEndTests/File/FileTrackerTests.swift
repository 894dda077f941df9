import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("sluice and files as a destination", .timeLimit(.minutes(5)))
struct FileTrackerTests {
    private static let plan = """
        <plist><dict><key>events</key><dict><key>Song Played</key><dict>
        <key>registeredTrackers</key><array><string>archive</string></array>
        <key>payload</key><dict><key>number</key><string>integer</string></dict>
        </dict></dict></dict></plist>
        """

    /// The files of a folder and of those in it, as paths below the test's folder.
    private static func files(in folder: TestFolder) -> [String] {
        let names = FileManager.default.subpaths(atPath: folder.path("archive")) ?? []
        return names.map { "archive/" + $0 }.filter { $0.hasSuffix(".ndjson") || $0.hasSuffix(".ndjson.gz") }.sorted()
    }

    /// The numbers of the events in lines.
    private static func numbers(in lines: [String]) -> [Int] {
        lines.compactMap { $0.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) } }
    }

    @Test(
        "every acknowledged event can be replayed from the files, however often sluice is killed",
        .promise("killed-process"),
        arguments: ["archive/{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson.gz", "archive/all.ndjson"]
    )
    func killed(path: String) async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        // Files are completed all the time, so that kills hit that, too.
        try folder.write(
            "trackers: { archive: { type: file, path: '\(path)', node: edge-1, maximumFileBytes: 2000 } }",
            to: "sluice.yaml"
        )
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin"]
        var acknowledged = Set<Int>()
        for round in 0..<10 {
            let server = try await ServingSluice.start(options, in: folder, plan: plan)
            for number in round * 20..<round * 20 + 20 {
                let answer = try await server.post(#"{"name":"Song Played","payload":{"number":\#(number)}}"#)
                if answer.status == 200 { acknowledged.insert(number) }
            }
            server.process.send(round == 9 ? SIGTERM : SIGKILL)
            #expect(try await server.process.waitForEnd() == (round == 9 ? .exit(0) : .signal(SIGKILL)))
        }
        #expect(acknowledged.count == 200)
        #expect(!FileManager.default.fileExists(atPath: folder.path("archive/.partial")))
        let files = Self.files(in: folder)
        let isCompressed = path.hasSuffix(".gz")
        if isCompressed {
            #expect(files.allSatisfy { $0.hasPrefix("archive/Song Played/20") && $0.contains("-edge-1") })
        }
        let paths = files.map { folder.path($0) }
        let contents = try await Command.run(isCompressed ? "gunzip" : "cat", (isCompressed ? ["-c"] : []) + paths)
        #expect(contents.status == 0)
        let lines = contents.text.split(separator: "\n").map(String.init)
        #expect(Set(Self.numbers(in: lines)) == acknowledged)
        let replay = try await Sluice.replay(files + ["--dry-run"], in: folder, plan: plan)
        #expect(replay.ending == .exit(0), "\(replay.errors)")
        let report = try replay.report()
        #expect(report.read == lines.count)
        #expect(report.accepted == lines.count)
    }

    #if os(Linux)
    @Test("a delivery that does not fit on the disk leaves nothing, and is delivered once when it fits")
    func fullDisk() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        try folder.write("trackers: { archive: { type: file, path: archive/all.ndjson } }", to: "sluice.yaml")
        let options = ["--config", "sluice.yaml", "--no-journal", "--no-admin"]
        let server = try await ServingSluice.start(options, in: folder, plan: plan)
        func post(_ numbers: Range<Int>) async throws {
            let lines = numbers.map { #"{"name":"Song Played","payload":{"number":\#($0)}}"# }
            let answer = try await server.post(lines.joined(separator: "\n"), type: "application/x-ndjson")
            #expect(answer.status == 200)
        }
        func unfinished() throws -> Data {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path("archive/.partial"))) ?? []
            return try names.first.map { try Data(contentsOf: URL(filePath: folder.path("archive/.partial/\($0)"))) }
                ?? Data()
        }
        try await post(0..<20)
        while try unfinished().count(where: { $0 == UInt8(ascii: "\n") }) < 20 { try await waitBriefly() }
        let before = try unfinished()
        // In the middle of the next delivery.
        try await server.process.limitFiles(toBytes: before.count + 1000)
        try await post(20..<40)
        _ = try await server.process.errors.line(containing: "File too large")
        while try unfinished() != before { try await waitBriefly() }
        try await server.process.limitFiles(toBytes: nil)
        while try unfinished().count(where: { $0 == UInt8(ascii: "\n") }) < 40 { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(Self.files(in: folder) == ["archive/all.ndjson"])
        #expect(Self.numbers(in: folder.lines(of: "archive/all.ndjson")) == Array(0..<40))
    }
    #endif

    @Test("check finds a folder that is missing, and config check every path that cannot be used")
    func settings() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        for (path, ending) in ["archive/{event}.ndjson": SluiceProcess.Ending.exit(0), "missing/archive/x": .exit(1)] {
            try folder.write("trackers: { archive: { type: file, path: '\(path)' } }", to: "sluice.yaml")
            let check = try await Sluice.run("check", "--config", "sluice.yaml", "--events", plan, in: folder)
            #expect(check.ending == ending, "\(check.output) \(check.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("archive")))
        }
        try folder.write(
            """
            trackers:
              a: { type: file, path: 'x/{evnt}.ndjson' }
              b: { type: file, path: 'x/../y.ndjson' }
              c: { type: file, path: 'x/' }
              d: { type: file, path: 'x/{event.ndjson' }
              e: { type: file, path: 'a.ndjson', pathTime: later, maximumAgeSeconds: 0 }
              f: { type: file }

            """,
            to: "wrong.yaml"
        )
        let wrong = try await Sluice.run("config", "check", "--config", "wrong.yaml", in: folder)
        #expect(wrong.ending == .exit(1))
        #expect(
            wrong.output.map { $0.replacing(#/ \[.*/#, with: "") } == [
                "wrong.yaml:2:26: error: trackers.a.path: '{evnt}' is not a placeholder; those of a path are {event}, {yyyy},"
                    + " {MM}, {dd}, {HH}, {node}",
                "wrong.yaml:3:26: error: trackers.b.path: the path contains '..'; write the path without it",
                "wrong.yaml:4:26: error: trackers.c.path: the path must end with the name of a file",
                "wrong.yaml:5:26: error: trackers.d.path: a '{' in the path belongs to no placeholder",
                "wrong.yaml:6:48: error: trackers.e.pathTime: expected one of arrival, event, found 'later'",
                "wrong.yaml:6:74: error: trackers.e.maximumAgeSeconds: expected a whole number from 1 to 604800, found 0",
                "wrong.yaml:7:3: error: the tracker 'f' needs trackers.f.path",
            ]
        )
    }
}
