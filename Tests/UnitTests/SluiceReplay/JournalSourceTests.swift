import EventJournal
import EventModel
import EventValidation
import Foundation
import PipelineTestSupport
import SluiceReplay
import TestCases
import Testing
import TrackerKit

@Suite("A journal as a source", .timeLimit(.minutes(5)))
struct JournalSourceTests {
    private static let hour: Int64 = 3_600_000_000

    /// The canonical lines of events, an hour apart from 2010-12-01T08:26:00Z.
    private static func lines(_ count: Int) throws -> [String] {
        let validator = EventValidator(catalog: ReplayFolder.catalog(), now: { ReplayFolder.arrival })
        let texts = (0..<count).map { hour in
            ReplayFolder.sold(hour + 1, #""time":"2010-12-01T\#(hour < 2 ? "0" : "")\#(8 + hour):26:00Z","#)
        }
        return try validator.check(texts.joined(separator: "\n"), as: .lines).lines
    }

    /// Writes a frame for each line, and about two to a segment; returns the segments' names.
    private func write(_ lines: [String], in folder: ReplayFolder) throws -> [String] {
        var configuration = JournalConfiguration.small()
        configuration.segmentBytes = 2 * (lines[0].utf8.count + 100) + 100
        let journal = try Journal(folder: folder.path("journal"), configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        for (position, line) in lines.enumerated() {
            let time = 1_291_191_960_000_000 + Int64(position) * Self.hour
            _ = try writer.commit([SampleEntry([line], times: time...time)], now: 0)
        }
        try writer.close(now: 0)
        return try PosixFileSystem(existing: folder.path("journal"), isReadOnly: true).names()
            .compactMap { SegmentName($0) }.sorted().map(\.text)
    }

    private func open(_ folder: ReplayFolder, times: ClosedRange<Int64>? = nil) throws -> JournalSource {
        let selection = ReplaySelection(
            catalog: ReplayFolder.catalog(),
            times: times,
            quarantine: FolderQuarantine(path: folder.quarantine)
        )
        return try JournalSource(folder: folder.path("journal"), selection, stop: Interrupt())
    }

    private func flip(_ byte: Int, of segment: String, in folder: ReplayFolder) throws {
        let url = URL(filePath: folder.path("journal/\(segment)"))
        var bytes = try Data(contentsOf: url)
        bytes[byte] ^= 1
        try bytes.write(to: url)
    }

    @Test("has its events with their ids and times, as they were written")
    func events() async throws {
        let folder = try ReplayFolder()
        let lines = try Self.lines(5)
        _ = try write(lines, in: folder)
        let source = try open(folder)
        let parts = try await source.parts()
        #expect(parts.lines == lines)
        #expect(parts.allSatisfy { !$0.isQuarantined && $0.recordKey == nil })
        #expect(source.takeFailures().isEmpty)
        #expect(source.bytesRead > 0)
        #expect(source.bytesRead <= ReplayInput.journal(folder: folder.path("journal")).byteCount ?? 0)
    }

    @Test("segments of other times are not read, so damage in them is not noticed")
    func seeks() async throws {
        let folder = try ReplayFolder()
        let lines = try Self.lines(12)
        let segments = try write(lines, in: folder)
        try #require(segments.count >= 5)
        try flip(FrameHeader.byteCount + 20, of: segments[0], in: folder)
        try flip(3, of: segments[1], in: folder)
        let since = 1_291_191_960_000_000 + 7 * Self.hour
        let source = try open(folder, times: since...Int64.max)
        let found = try await source.parts().lines
        #expect(Array(found.suffix(5)) == Array(lines[7...]))
        #expect(found.count < 7)
        #expect(source.takeFailures().isEmpty)
    }

    @Test("damage and gaps are reported once, with file and offset, and reading continues after them")
    func damage() async throws {
        let folder = try ReplayFolder()
        let lines = try Self.lines(12)
        let segments = try write(lines, in: folder)
        try #require(segments.count >= 5)
        try flip(FrameHeader.byteCount + 20, of: segments[0], in: folder)
        for name in segments[2...3] { try FileManager.default.removeItem(atPath: folder.path("journal/\(name)")) }
        try FileManager.default.createDirectory(
            atPath: folder.path("journal/\(segments[3])"),
            withIntermediateDirectories: false
        )
        let source = try open(folder)
        let found = try await source.parts().lines
        let first = try #require(SegmentName(segments[2])?.firstSequence)
        let behind = try #require(SegmentName(segments[4])?.firstSequence)
        #expect(found == Array(lines[1..<Int(first)] + lines[Int(behind)...]))
        let failures = source.takeFailures()
        try #require(failures.count == 3)
        #expect(failures[0].hasPrefix("\(segments[0]), byte 0: "))
        #expect(failures[1].contains("are missing before \(segments[3])"))
        #expect(failures[2] == "open \(segments[3]): Is a directory")
        #expect(source.takeFailures().isEmpty)
    }

    @Test("events that no longer follow the plan are rejected")
    func rejections() async throws {
        let folder = try ReplayFolder()
        _ = try write([#"{"id":"0190a2b4-0000-7000-8000-000000000001","name":"Gone","payload":{}}"#], in: folder)
        #expect(try await open(folder).parts().codes == ["unknown-event"])
    }

    @Test("a folder that does not exist is an error")
    func missing() throws {
        let folder = try ReplayFolder()
        let error = #expect(throws: (any Error).self) { try open(folder) }
        #expect(error.map { "\($0)" } == "There is no folder '\(folder.path("journal"))'.")
    }
}
