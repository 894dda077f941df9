import Foundation
import PipelineTestSupport
import SluiceFile
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("Files that a killed process has left", .timeLimit(.minutes(5)))
struct RecoveryTests {
    private static let name = "archive/.partial/file@n@0123456789abcdef.partial"

    /// The bytes of an unfinished file after each of three deliveries.
    private static func prefixes(of path: String, in archive: Archive) async throws -> [[UInt8]] {
        let tracker = archive.tracker(path)
        try await tracker.start(for: Archive.catalog)
        var prefixes: [[UInt8]] = []
        for number in 0..<3 {
            #expect(await tracker.deliver(deliveries[number]).retry == nil)
            prefixes.append(try archive.bytes(of: try #require(archive.files(unfinished: true).first)))
        }
        await tracker.stop()
        try archive.remove("archive")
        return prefixes
    }

    private static let deliveries = [Delivery.numbered(0..<1), .numbered(1..<2), .numbered(2..<3)]

    /// Starts and stops a tracker.
    private static func recover(_ tracker: FileTracker) async throws {
        try await tracker.start(for: Archive.catalog)
        await tracker.stop()
    }

    @Test("keep every whole member of gzip, and nothing else, wherever they end", .promise("killed-process"))
    func compressed() async throws {
        let archive = try Archive()
        let path = "archive/{event}-{HH}.ndjson.gz"
        let prefixes = try await Self.prefixes(of: path, in: archive)
        let all = try #require(prefixes.last)
        for count in 0...all.count {
            try archive.write(Array(all[..<count]), to: Self.name)
            try await Self.recover(archive.tracker(path))
            let whole = prefixes.last { $0.count <= count }
            #expect(archive.files() == (whole == nil ? [] : ["archive/Sold-22.ndjson.gz"]), "\(count)")
            if let whole { #expect(try archive.bytes(of: "archive/Sold-22.ndjson.gz") == whole, "\(count)") }
            #expect(!archive.exists("archive/.partial"))
            try archive.remove("archive")
        }
    }

    @Test("keep every whole line, and nothing else, wherever they end", .promise("killed-process"))
    func plain() async throws {
        let archive = try Archive()
        let path = "archive/{event}-{HH}.ndjson"
        let all = try #require(try await Self.prefixes(of: path, in: archive).last)
        for count in 0...all.count {
            try archive.write(Array(all[..<count]), to: Self.name)
            try await Self.recover(archive.tracker(path))
            let end = all[..<count].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            #expect(archive.files() == (end == 0 ? [] : ["archive/Sold-22.ndjson"]), "\(count)")
            if end > 0 { #expect(try archive.bytes(of: "archive/Sold-22.ndjson") == Array(all[..<end]), "\(count)") }
            try archive.remove("archive")
        }
    }

    @Test("lose what is damaged at their end, as after a power failure")
    func damaged() async throws {
        let archive = try Archive()
        let path = "archive/all.ndjson.gz"
        let prefixes = try await Self.prefixes(of: path, in: archive)
        for end in [[UInt8](repeating: 0, count: 4096), Array("garbage".utf8), Array(prefixes[0].dropLast(8)) + [0]] {
            try archive.write(prefixes[2] + end, to: Self.name)
            try await Self.recover(archive.tracker(path))
            #expect(try archive.bytes(of: "archive/all.ndjson.gz") == prefixes[2])
            try archive.remove("archive")
        }
        // The checksum of the last member is wrong.
        var wrong = prefixes[2]
        wrong[wrong.count - 8] ^= 1
        try archive.write(wrong, to: Self.name)
        let log = RecordingLog()
        try await Self.recover(archive.tracker(path, logger: log.logger))
        #expect(try archive.bytes(of: "archive/all.ndjson.gz") == prefixes[1])
        let warning = try #require(log.all.first { $0.hasPrefix("A file that a killed process has left is damaged") })
        #expect(warning.contains("cutOffBytes=\(prefixes[2].count - prefixes[1].count)"))
    }

    @Test("get the name of the present path, even if the earlier one was compressed and it is not")
    func otherPath() async throws {
        let archive = try Archive()
        let compressed = try await Self.prefixes(of: "archive/all.ndjson.gz", in: archive)[2]
        let plain = try await Self.prefixes(of: "archive/all.ndjson", in: archive)[2]
        try archive.write(compressed, to: Self.name)
        try await Self.recover(archive.tracker("archive/{event}-{dd}.ndjson"))
        try archive.write(plain, to: Self.name)
        try await Self.recover(archive.tracker("archive/{yyyy}.ndjson.gz"))
        #expect(archive.files() == ["archive/2023.ndjson", "archive/Sold-14.ndjson.gz"])
    }

    @Test("stay if another tracker, another node or a running process has them, or if they are something else")
    func others() async throws {
        let archive = try Archive()
        let running = archive.tracker()
        try await running.start(for: Archive.catalog)
        #expect(await running.deliver(.numbered(0..<1)).retry == nil)
        let names = ["file@other@0123456789abcdef.partial", "x@n@0123456789abcdef.partial", "file@n@notes.txt"]
        for name in names { try archive.write(Array(#"{"id":"x"}"#.utf8) + [10], to: "archive/.partial/\(name)") }
        // It does not begin with an event.
        try archive.write(Array("notes\n".utf8), to: Self.name)
        let log = RecordingLog()
        try await Self.recover(archive.tracker(logger: log.logger))
        #expect(archive.files() == [])
        #expect(archive.files(unfinished: true).count == 5)
        #expect(log.all.count { $0.hasPrefix("A file that a killed process has left cannot be read") } == 1)
        await running.stop()
        #expect(archive.files() == ["archive/Sold.ndjson"])
    }

    @Test("are not there twice if the process was killed between giving a file its name and removing the other one")
    func twoNames() async throws {
        let archive = try Archive()
        let lines = Delivery.numbered(0..<2).lines.map { $0 + "\n" }.joined()
        try archive.write(Array(lines.utf8), to: Self.name)
        try archive.write([], to: "archive/x")
        try FileManager.default.linkItem(atPath: archive.path(Self.name), toPath: archive.path("archive/Sold.ndjson"))
        try await Self.recover(archive.tracker())
        #expect(archive.files() == ["archive/Sold.ndjson", "archive/x"])
        #expect(archive.files(unfinished: true) == [])
        #expect(try archive.lines(of: "archive/Sold.ndjson") == Delivery.numbered(0..<2).lines)
    }
}
