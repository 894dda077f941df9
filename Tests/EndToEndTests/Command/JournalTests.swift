import EventJournal
import EventModel
import Foundation
import ServerTestSupport
import Testing

/// `sluice journal`.
@Suite("sluice journal", .timeLimit(.minutes(5)))
struct JournalTests {
    private static let lines = (0..<11).map { "{\"event\":\($0)}" }

    /// A journal of 3 segments, and its first segment's name.
    private func journal() throws -> (TestFolder, String) {
        let folder = try TestFolder()
        try JournalFolder.write(Self.lines, in: folder)
        let segments = try JournalFolder.segments(in: folder)
        try #require(segments.count == 3)
        return (folder, segments[0])
    }

    /// Flips a bit of a byte in a file.
    private func flip(_ byte: Int, of name: String, in folder: TestFolder) throws {
        var bytes = try Data(contentsOf: folder.url.appending(path: "journal/\(name)"))
        bytes[byte] ^= 1
        try folder.write(bytes, to: "journal/\(name)")
    }

    @Test("inspect shows segments, cursors with their lag, and cut regions, while another process writes")
    func inspect() async throws {
        let (folder, segment) = try journal()
        let held = try Journal(folder: folder.path("journal"), configuration: JournalFolder.configuration, now: 0)
        var writer = JournalWriter(held)
        _ = try writer.commit([JournalledLine("{}")], now: 0)
        var cursor = try CursorFile(PosixFileSystem(path: folder.path("journal")), tracker: "My.Kafka")
        try cursor.move(to: 5, syncs: false)
        try folder.write("abc", to: "journal/\(segment).7.cut")
        let run = try await Sluice.run("journal", "inspect", "journal", in: folder)
        // By default, it inspects the journal of the settings.
        let environment = ["SLUICE_JOURNAL_FOLDER": folder.path("journal")]
        #expect(try await Sluice.run("journal", "inspect", in: folder).output == run.output)
        #expect(
            try await Sluice.run("journal", "inspect", in: TestFolder(), environment: environment).output == run.output
        )
        #expect(run.ending == .exit(0))
        #expect(run.errors == [])
        let rows = run.output.map { $0.split(separator: " ").joined(separator: " ") }
        let time = "2010-12-01T08:26:00.000000Z"
        #expect(rows.contains("\(segment) 0 4 328 \(time) \(time) ended"))
        #expect(rows.contains("00000000000000000011.segment 11 12 59 \(time) \(time) open"))
        #expect(rows.contains("journal \(held.id)"))
        #expect(rows.contains("4 segments, 976 bytes, first event 0, next event 12"))
        #expect(rows.contains("my.kafka 5 7"))
        #expect(rows.contains("\(segment).7.cut 3"))
        withExtendedLifetime(held) {}
    }

    @Test("inspect --json prints the same as an object")
    func inspectJSON() async throws {
        struct Report: Decodable {
            struct Segment: Decodable {
                let file: String
                let firstSequence: UInt64
                let nextSequence: UInt64
                let bytes: Int
                let strayBytes: Int
                let earliest: String?
                let latest: String?
                let isEnded: Bool
            }
            struct Cursor: Decodable {
                let tracker: String
                let sequence: UInt64?
                let lag: UInt64
            }
            let journal: String
            let segments: [Segment]
            let bytes: Int
            let firstSequence: UInt64
            let nextSequence: UInt64
            let cursors: [Cursor]
        }
        let (folder, segment) = try journal()
        _ = try CursorFile(PosixFileSystem(path: folder.path("journal")), tracker: "console")
        let run = try await Sluice.run("journal", "inspect", "journal", "--json", in: folder)
        #expect(run.ending == .exit(0))
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.joined().utf8))
        #expect(JournalID(report.journal) != nil)
        #expect(try "\(report.journal)\n" == String(contentsOfFile: folder.path("journal/identity"), encoding: .utf8))
        #expect(report.segments.map(\.firstSequence) == [0, 4, 8])
        #expect(report.segments.map(\.nextSequence) == [4, 8, 11])
        #expect(report.segments.first?.file == segment)
        #expect(report.segments.allSatisfy { $0.isEnded && $0.strayBytes == 0 && $0.earliest == $0.latest })
        #expect(report.segments.first?.earliest == "2010-12-01T08:26:00.000000Z")
        #expect(report.bytes == report.segments.map(\.bytes).reduce(0, +))
        #expect(report.firstSequence == 0 && report.nextSequence == 11)
        #expect(report.cursors.map(\.tracker) == ["console"])
        #expect(report.cursors.map(\.lag) == [11])
        #expect(report.cursors.map(\.sequence) == [nil])
    }

    @Test("verify reports what it read, and the location of damage and gaps")
    func verify() async throws {
        let (folder, segment) = try journal()
        let clean = try await Sluice.run("journal", "verify", "journal", in: folder)
        #expect(clean.ending == .exit(0))
        #expect(clean.output == [])
        let bytes = try JournalFolder.segments(in: folder).map {
            try Data(contentsOf: folder.url.appending(path: "journal/\($0)")).count
        }
        #expect(clean.errors == ["read 3 segments, 14 frames, 11 events, \(bytes.reduce(0, +)) bytes: no damage"])

        try flip(68 + 60, of: segment, in: folder)
        try FileManager.default.removeItem(atPath: folder.path("journal/00000000000000000004.segment"))
        let run = try await Sluice.run("journal", "verify", "journal", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.output.prefix(2) == [
                "\(segment), byte 68: 68 bytes are no frame (the checksum of events 1 to 1 is wrong)",
                "events 4 to 7 are missing before 00000000000000000008.segment",
            ]
        )
        #expect(run.errors.first?.hasSuffix(": 1 damaged region, 1 gap") == true)
        let json = try await Sluice.run("journal", "verify", "--json", "journal", in: folder)
        #expect(json.ending == .exit(1))
        let text = json.output.joined()
        #expect(text.contains(#""byte" : 68"#) && text.contains(#""before" : "00000000000000000008.segment""#))
    }

    @Test("verify notes an unfinished commit at the end, and does not change it")
    func unfinished() async throws {
        let (folder, _) = try journal()
        let file = "journal/00000000000000000008.segment"
        let bytes = try Data(contentsOf: folder.url.appending(path: file)).dropLast(10)
        try folder.write(Data(bytes), to: file)
        let run = try await Sluice.run("journal", "verify", "journal", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 1 && run.output.first?.hasPrefix("note: ") == true)
        #expect(try Data(contentsOf: folder.url.appending(path: file)) == Data(bytes))
    }

    @Test("cat prints the lines of a journal unchanged, or a range of them")
    func cat() async throws {
        let folder = try TestFolder()
        // Bytes that are not UTF-8 are printed unchanged.
        let lines = Self.lines.dropLast() + ["{\"\u{0}\u{1F600}\r\":1}"]
        try JournalFolder.write(Array(lines), in: folder)
        let stdout = Pipe()
        let process = try SluiceProcess(["journal", "cat", "journal"], in: folder, stdout: stdout, readsOutput: false)
        let output = try stdout.fileHandleForReading.readToEnd()
        #expect(try await process.waitForEnd() == .exit(0))
        #expect(output == Data(lines.map { $0 + "\n" }.joined().utf8))
        #expect(process.errors.lines == [])
        let part = try await Sluice.run("journal", "cat", "journal", "--from", "3", "--limit", "4", in: folder)
        #expect(part.ending == .exit(0))
        #expect(part.output == Array(Self.lines[3..<7]))
        let behind = try await Sluice.run("journal", "cat", "journal", "--from", "99", in: folder)
        #expect(behind.ending == .exit(0) && behind.output == [])
    }

    @Test("cat reports damage and continues after it; damage before the range is not reported")
    func catDamaged() async throws {
        let (folder, segment) = try journal()
        try flip(68, of: segment, in: folder)
        let run = try await Sluice.run("journal", "cat", "journal", in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output == [Self.lines[0]] + Self.lines[2...])
        #expect(run.errors == ["\(segment), byte 68: 68 bytes are no frame (it does not begin as one)"])
        let behind = try await Sluice.run("journal", "cat", "journal", "--from", "2", in: folder)
        #expect(behind.ending == .exit(0))
        #expect(behind.output == Array(Self.lines[2...]))
        let before = try await Sluice.run("journal", "cat", "journal", "--limit", "1", in: folder)
        #expect(before.ending == .exit(0))
    }

    @Test("cat ends silently after the reader of its output has exited")
    func catBrokenPipe() async throws {
        let folder = try TestFolder()
        try JournalFolder.write((0..<50).map { "{\"\($0)\":\"\(String(repeating: "x", count: 9999))\"}" }, in: folder)
        let stdout = Pipe()
        let process = try SluiceProcess(["journal", "cat", "journal"], in: folder, stdout: stdout, readsOutput: false)
        try stdout.fileHandleForReading.close()
        #expect(try await process.waitForEnd() == .signal(SIGPIPE))
        #expect(process.errors.lines == [])
    }

    @Test(
        "the journal commands report a folder that is not a journal, and do not change it",
        arguments: ["inspect", "verify", "cat", "repair", "forget"]
    )
    func noJournal(command: String) async throws {
        let folder = try TestFolder()
        let tracker = command == "forget" ? ["kafka"] : []
        let missing = try await Sluice.run(["journal", command] + tracker + ["nowhere"], in: folder)
        #expect(missing.ending == .exit(1))
        #expect(missing.output == [] && missing.errors == ["error: There is no folder 'nowhere'."])
        try folder.write("a", to: "other/file")
        let other = try await Sluice.run(["journal", command] + tracker + ["other"], in: folder)
        #expect(other.ending == .exit(1))
        #expect(other.errors == ["error: 'other' is no journal: it has no segments and no cursors."])
        let file = try await Sluice.run(["journal", command] + tracker + ["other/file"], in: folder)
        #expect(file.errors == ["error: 'other/file' is no folder."])
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted() == ["other", "other/file"]
        )
    }

    @Test(
        "wrong usage of the journal commands exits with 64",
        arguments: [
            "inspect a b", "forget", "cat journal --limit 0", "cat journal --from -1", "verify a b", "mend a",
        ]
    )
    func usage(line: String) async throws {
        let arguments = ["journal"] + line.split(separator: " ").map(String.init)
        #expect(try await Sluice.run(arguments, in: try TestFolder()).ending == .exit(64))
    }
}
