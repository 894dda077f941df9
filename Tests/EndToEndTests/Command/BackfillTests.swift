import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// `sluice serve --from`.
@Suite("sluice serve --from", .timeLimit(.minutes(5)))
struct BackfillTests {
    private func serve(
        _ lines: [String],
        _ options: [String],
        in folder: TestFolder,
        until isDone: (ServingSluice) async throws -> Void
    ) async throws -> SluiceProcess {
        let serving = try await ServingSluice.start(["--journal", "journal"] + options, in: folder)
        try folder.write(lines.joined(separator: "\n"), to: "part.ndjson")
        #expect(try await serving.post(file: folder.path("part.ndjson")).status == 200)
        try await isDone(serving)
        serving.process.send(SIGTERM)
        #expect(try await serving.process.waitForEnd() == .exit(0))
        return serving.process
    }

    @Test("with --from beginning, a new tracker gets the whole journal, in order and once, and the others continue")
    func beginning() async throws {
        let folder = try TestFolder()
        let lines = try await RetailMonth.dayLines(1_000)
        let first = try await serve(Array(lines[..<900]), [], in: folder) { serving in
            try await serving.process.output?.waitForLines(900)
        }
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 1)
        let options = ["--kafka", cluster.bootstrapServers, "--from", "beginning"]
        let second = try await serve(Array(lines[900...]), options, in: folder) { serving in
            try await serving.process.output?.waitForLines(100)
            while try await cluster.messages(in: "events").count < 1_000 { try await waitBriefly() }
        }
        #expect(
            second.errors.lines.contains {
                $0.contains("The tracker is new to the journal.") && $0.contains("sequence=0 tracker=kafka")
            }
        )
        let printed = (first.output?.lines ?? []) + (second.output?.lines ?? [])
        #expect(printed.count == 1_000)
        let messages = try await cluster.messages(in: "events")
        #expect(messages.map { $0.value } == printed)
    }

    @Test("with --from and a time, a new tracker begins at that time; without --from, it begins at the journal's end")
    func time() async throws {
        let folder = try TestFolder()
        let lines = try await RetailMonth.dayLines(40)
        func at(_ hour: Int) -> [String] {
            lines[hour * 10..<hour * 10 + 10].map {
                $0.replacing(/"time": *"[^"]*"/, with: "\"time\":\"2010-12-01T1\(hour):00:00Z\"")
            }
        }
        for hour in 0..<2 {
            _ = try await serve(at(hour), ["--no-console"], in: folder) { _ in }
        }
        let third = try await serve(at(2), ["--from", "2010-12-01T11:00:00Z"], in: folder) { serving in
            try await serving.process.output?.waitForLines(20)
        }
        #expect(third.output?.lines.count == 20)
        #expect(third.output?.lines.allSatisfy { !$0.contains("T10:00:00") } == true)
        let forget = try await Sluice.run("journal", "forget", "console", "--yes", in: folder)
        #expect(forget.ending == .exit(0))
        let fourth = try await serve(at(3), [], in: folder) { serving in
            try await serving.process.output?.waitForLines(10)
        }
        #expect(fourth.output?.lines.count == 10)
    }
}
