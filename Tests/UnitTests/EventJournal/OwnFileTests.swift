import EventJournal
import Foundation
import PipelineTestSupport
import TestCases
import TestPromises
import Testing

@Suite("A journal's files")
struct OwnFileTests {
    /// The names of all files that a journal opens, and whether opening the journal for writing is what opens them.
    private static let names = [
        "00000000000000000000.segment", "00000000000000000002.segment", "postgres.cursor", "lock", "identity",
        "identity.new", "00000000000000000000.segment.9.cut", "00000000000000000000.segment.repair",
    ]

    private static func withJournal(_ body: (_ journal: String, _ elsewhere: URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "journal").path
        do {
            var configuration = JournalConfiguration.small()
            configuration.segmentBytes = 250
            let journal = try Journal(folder: path, configuration: configuration, now: 0)
            var writer = JournalWriter(journal)
            for number in 0..<4 { _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 7) }
            var cursor = try journal.cursor(ofTracker: "postgres")
            try cursor.move(to: 1, syncs: true)
        }
        try body(path, folder)
    }

    /// Everything that a program does with a journal's files; returns what failed.
    private static func useAll(_ path: String) -> [any Error] {
        var errors: [any Error] = []
        func attempt(_ work: () throws -> Void) {
            do { try work() } catch { errors.append(error) }
        }
        attempt { _ = try Inspection(ExistingJournal(reading: path).files) }
        attempt { _ = try Verification(ExistingJournal(reading: path).files) }
        attempt { _ = try JournalRepair(ExistingJournal(changing: path).files, now: 9) }
        attempt {
            let journal = try Journal(folder: path, configuration: .small(), now: 9)
            var cursor = try journal.cursor(ofTracker: "postgres")
            try cursor.move(to: 2, syncs: true)
            var reader = journal.reader(from: 0)
            while case .frame = try reader.next() {}
            var writer = JournalWriter(journal)
            _ = try writer.commit([SampleEntry(["{\"event\":9}"])], now: 10)
            try writer.close(now: 10)
        }
        return errors
    }

    @Test(
        "anything but a regular file in its place is refused at once, and what a link leads to stays as it is",
        .promise("replaced-files"),
        arguments: names,
        HostileFile.allCases
    )
    func hostile(name: String, hostile: HostileFile) throws {
        try Self.withJournal { path, elsewhere in
            // Makes opening write a new identity, and a repair rewrite the segment.
            if name == "identity.new" { try FileManager.default.removeItem(atPath: path + "/identity") }
            if name.hasSuffix(".repair") { try Self.damageFirstSegment(of: path) }
            try hostile.put(at: path + "/" + name, elsewhere: elsewhere)
            let errors = Self.useAll(path)
            #expect(!errors.isEmpty)
            for error in errors { #expect("\(error)".contains(name), "\(error)") }
            #expect(!hostile.hasHarmed(elsewhere: elsewhere))
        }
    }

    @Test("used in the same way, a journal without such a file shows no error")
    func harmless() throws {
        try Self.withJournal { path, _ in #expect(Self.useAll(path).isEmpty) }
    }

    private static func damageFirstSegment(of path: String) throws {
        let name = "00000000000000000000.segment"
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
        bytes[60] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
    }
}
