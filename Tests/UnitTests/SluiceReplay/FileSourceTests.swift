import EventModel
import EventValidation
import Foundation
import Gzip
import SluiceReplay
import SluiceTesting
import SystemPackage
import TestCases
import Testing
import TrackerKit

@Suite("Files and standard input of a replay", .timeLimit(.minutes(5)))
struct FileSourceTests {
    private static let december = #""time":"2010-12-01T08:26:00Z","#
    private static let lines = (1...3).map { ReplayFolder.sold($0, december) }
    private static let text = lines.map { $0 + "\n" }.joined()

    private func open(_ bytes: [UInt8], in folder: ReplayFolder, as name: String = "file") throws -> FileSource {
        try FileSource(path: folder.write(bytes, to: name), folder.selection(), stop: Interrupt())
    }

    private func read(_ text: String) async throws -> [ReplayPart] {
        try await open(Array(text.utf8), in: ReplayFolder()).parts()
    }

    /// Reads bytes from a pipe as standard input.
    private func pipe(_ bytes: [UInt8]) async throws -> [ReplayPart] {
        let pipe = Pipe()
        defer { withExtendedLifetime(pipe) {} }
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try pipe.fileHandleForWriting.close()
        let descriptor = FileDescriptor(rawValue: pipe.fileHandleForReading.fileDescriptor)
        let selection = try ReplayFolder().selection()
        return try await FileSource(path: nil, selection, standardInput: descriptor, stop: Interrupt()).parts()
    }

    @Test("lines end in LF or CRLF, the last may have no end, empty ones are skipped, and a byte order mark is ignored")
    func lineEnds() async throws {
        let lines = Self.lines
        let parts = try await read("\u{FEFF}\(lines[0])\r\n\r\n\n  \n\(lines[1])\n\(lines[2])")
        #expect(parts.lines.count == 3)
        #expect(parts.rejections.isEmpty)
    }

    @Test("an empty file, plain or gzip, has no parts")
    func empty() async throws {
        let folder = try ReplayFolder()
        #expect(try await open([], in: folder).parts().isEmpty)
        #expect(try await open(StoredGzip.file([]), in: folder).parts().isEmpty)
    }

    @Test("derived ids depend on a file's lines, not on its name or whether it is gzip")
    func ids() async throws {
        let folder = try ReplayFolder()
        let plain = try await open(Array(Self.text.utf8), in: folder).parts().ids
        #expect(plain.count == 3)
        #expect(try await open(StoredGzip.file(Array(Self.text.utf8)), in: folder, as: "other.gz").parts().ids == plain)
        #expect(try await read(Self.lines.joined(separator: "\n")).ids == plain)
        // The same lines after another one, as in another day's file.
        let others = try await read(Self.lines.reversed().joined(separator: "\n")).ids
        #expect(others.count == 3)
        #expect(Set(others).isDisjoint(with: plain))
    }

    @Test("derived ids are UUIDs of version 8 that begin with the event's milliseconds")
    func layout() async throws {
        let id = try #require(try await read(Self.lines[0]).ids.first).description
        #expect(id.hasPrefix("012ca109-c1c0-8"))
        #expect("89ab".contains(Array(id)[19]))
    }

    @Test("two equal lines are two events")
    func equalLines() async throws {
        #expect(Set(try await read("\(Self.lines[0])\n\(Self.lines[0])\n").ids).count == 2)
    }

    @Test("standard input is read to its end through a pipe, plain or gzip, and its events get new ids each time")
    func standardInput() async throws {
        let plain = try await pipe(Array(Self.text.utf8))
        #expect(plain.lines.count == 3)
        let gzipped = try await pipe(StoredGzip.file(Array(Self.text.utf8)))
        #expect(gzipped.lines.count == 3)
        #expect(Set(gzipped.ids + plain.ids).count == 6)
        #expect(try await pipe([]).isEmpty)
    }

    @Test("concatenated gzip files are read as one, and their equal lines are different events")
    func concatenated() async throws {
        let data = StoredGzip.file(Array(Self.text.utf8))
        let parts = try await open(data + data, in: ReplayFolder()).parts()
        #expect(parts.lines.count == 6)
        #expect(Set(parts.ids).count == 6)
    }

    @Test("garbage after a complete gzip file is an error, and loses no event")
    func garbage() async throws {
        let source = try open(StoredGzip.file(Array(Self.text.utf8)) + Array("garbage\n".utf8), in: ReplayFolder())
        #expect(try source.next()?.checked.lines.count == 3)
        let error = #expect(throws: GzipError.self) { try source.next() }
        #expect(error?.code == .corrupt)
    }

    @Test("a gzip file that ends too early is an error after the lines before its end")
    func truncated() async throws {
        let source = try open(Array(StoredGzip.file(Array(Self.text.utf8)).dropLast(20)), in: ReplayFolder())
        #expect(try source.next()?.checked.lines.count == 2)
        let error = #expect(throws: GzipError.self) { try source.next() }
        #expect(error?.code == .truncated)
    }

    @Test("a file in another encoding is an error that names it")
    func otherEncoding() throws {
        let source = try open([0xFF, 0xFE] + Array(Self.text.utf8), in: ReplayFolder())
        let error = #expect(throws: MalformedBody.self) { try source.next() }
        #expect(
            error?.description
                == "text in UTF-8 is expected, and the byte order mark of UTF-16 was found [malformed-json]"
        )
    }

    @Test("only white space, or carriage returns without line feeds, are no events", arguments: [" \n\n", "\r\r\r"])
    func whiteSpace(text: String) async throws {
        let source = try open(Array(text.utf8), in: ReplayFolder())
        let parts = try await source.parts()
        #expect(parts.allSatisfy { $0.checked.count == 0 })
        #expect(source.bytesRead == 3)
    }

    @Test("a file is read up to the length that it had when it was opened")
    func growing() async throws {
        let folder = try ReplayFolder()
        let source = try open(Array(Self.text.utf8), in: folder)
        let file = try FileHandle(forWritingTo: URL(filePath: folder.path("file")))
        try file.seekToEnd()
        try file.write(contentsOf: Data(Self.text.utf8))
        #expect(try await source.parts().lines.count == 3)
    }

    @Test("nothing is read after an interrupt")
    func interrupt() throws {
        let folder = try ReplayFolder()
        let stop = Interrupt()
        let source = try FileSource(path: folder.write(Self.text, to: "file"), folder.selection(), stop: stop)
        stop.raise()
        #expect(try source.next() == nil)
    }

    // MARK: The output of `sluice quarantine export`

    /// The lines of a quarantine with two events that arrived at different times.
    private func exported() async throws -> [String] {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        try await folder.reject([ReplayFolder.sold(2)], at: Timestamp(microseconds: 1_740_830_762_000_002))
        return try QuarantineContents.lines(in: folder.quarantine)
    }

    @Test("exported records are events of a quarantine, and those without a time have that of their record")
    func export() async throws {
        let parts = try await read(try await exported().joined(separator: "\n") + "\n")
        #expect(parts.map(\.isQuarantined) == [true, true])
        #expect(parts.allSatisfy { $0.recordKey == nil })
        for (line, time) in zip(parts.lines, [ReplayFolder.arrivalText, "2025-03-01T12:06:02.000002Z"]) {
            #expect(line.contains(#""time":"\#(time)","receivedAt":"\#(time)""#), "\(line)")
        }
        #expect(parts.lines.count == 2)
    }

    @Test("the last exported record counts even without a newline, and a truncated one is a rejection")
    func lastRecord() async throws {
        let line = try await exported()[0]
        #expect(try await read(line).lines.count == 1)
        let torn = try await read("\(line)\n\(line.dropLast(30))")
        #expect(torn.lines.count == 1)
        #expect(torn.codes == ["malformed-json"])
        #expect(torn.allSatisfy { $0.isQuarantined })
    }
}
