import EventJournal
import Foundation
import PipelineTestSupport
import TestCases
import Testing

@Suite("The inspection of a journal")
struct InspectionTests {
    @Test("shows segments, cursors with their lag, and removed bytes, and changes nothing")
    func inspected() throws {
        let sample = try JournalSample()
        var cursor = try CursorFile(sample.files, tracker: "My Sink_2")
        try cursor.move(to: 5, syncs: true)
        _ = try CursorFile(sample.files, tracker: "kafka")
        sample.files["00000000000000000000.segment.7.cut"] = [1, 2, 3]
        let last = try #require(sample.segments.last)
        sample.files[last]? += [7, 7]
        let names = try sample.files.names().sorted()
        let bytes = names.map { sample.files[$0] }

        let found = try Inspection(sample.files)
        #expect(found.segments.map(\.segment.name.text) == sample.segments)
        #expect(found.segments.map(\.isEnded) == sample.segments.map { $0 != last })
        #expect(found.segments.map(\.strayBytes) == sample.segments.map { $0 == last ? 2 : 0 })
        #expect(found.segments.allSatisfy { $0.segment.earliest == 100 && $0.segment.latest == 200 })
        #expect(found.segments.map(\.segment.byteCount) == sample.segments.map { sample.files[$0]?.count })
        #expect(found.firstSequence == 0)
        #expect(found.nextSequence == 11)
        #expect(found.cursors.map(\.tracker) == ["kafka", "my sink_2"])
        #expect(found.cursors.map(\.sequence) == [nil, 5])
        #expect(found.cursors.map(found.lag(of:)) == [11, 6])
        #expect(found.cuts.map(\.name) == ["00000000000000000000.segment.7.cut"])
        #expect(found.cuts.map(\.byteCount) == [3])

        #expect(try sample.files.names().sorted() == names)
        #expect(names.map { sample.files[$0] } == bytes)
    }

    @Test(
        "a cursor's file name decodes to its tracker's name",
        arguments: ["kafka", "a-b.c", "_", "__5f_", "Füße", "", "x y/../z", "\u{1F600}9"]
    )
    func names(tracker: String) {
        #expect(CursorFile.tracker(ofName: CursorFile.name(ofTracker: tracker)) == tracker.lowercased())
    }

    @Test(
        "a file name that no tracker's name encodes to is not a cursor",
        arguments: ["kafka", "Kafka.cursor", "a_.cursor", "a_zz_.cursor", "a_61_.cursor", "_d800_.cursor", "_.cursor"]
    )
    func foreign(name: String) {
        #expect(CursorFile.tracker(ofName: name) == nil)
    }

    @Test("a tracker's cursor is removed once")
    func forgotten() throws {
        let files = SimulatedFileSystem(seed: 1)
        _ = try CursorFile(files, tracker: "Kafka")
        #expect(try CursorFile.forget(tracker: "kafka", in: files))
        #expect(try !CursorFile.forget(tracker: "kafka", in: files))
        files.crash()
        #expect(try files.names() == [])
    }

    @Test("a missing folder, or one without a journal, is an error, and stays unchanged")
    func noJournal() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let missing = #expect(throws: JournalError.self) { try ExistingJournal(changing: folder) }
        #expect(missing?.message == "There is no folder '\(folder)'.")
        #expect(!FileManager.default.fileExists(atPath: folder))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let errors = [
            #expect(throws: JournalError.self) { try ExistingJournal(reading: folder) },
            #expect(throws: JournalError.self) { try ExistingJournal(changing: folder) },
        ]
        for error in errors {
            #expect(error?.message == "'\(folder)' is no journal: it has no segments and no cursors.")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test("a locked journal can be read, and cannot be changed")
    func held() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let journal = try Journal(folder: folder, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([SampleEntry(["{}"])], now: 0)
        let existing = try ExistingJournal(reading: folder)
        #expect(try Inspection(existing.files).nextSequence == 1)
        #expect(try Verification(existing.files).isIntact)
        #expect(throws: FileError.self) { try existing.files.open("new", creates: true) }
        let error = #expect(throws: JournalError.self) { try ExistingJournal(changing: folder) }
        #expect(error?.code == .locked)
        withExtendedLifetime(journal) {}
    }

    @Test("a read during writes and retention finds no damage and complete lines")
    func live() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = JournalConfiguration.small(.none)
        configuration.retentionBytes = 20 * configuration.segmentBytes
        let journal = try Journal(folder: folder, configuration: configuration, now: 0)
        let files = try ExistingJournal(reading: folder).files
        let commits: UInt64 = 2000
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var writer = JournalWriter(journal)
                for number in 0..<commits {
                    let line =
                        "{\"event\":\(number),\"filling\":\"\(String(repeating: "x", count: Int(number % 500)))\"}"
                    _ = try writer.commit([SampleEntry([line])], now: 0)
                    _ = try journal.retire(before: number, now: 0)
                }
                try writer.close(now: 0)
            }
            group.addTask {
                var next: UInt64 = 0
                while next < commits {
                    let found = try Verification(files)
                    try #require(found.isIntact, "\(found.damages) \(found.gaps)")
                    try #require(
                        try JournalSample.lines(of: files).allSatisfy {
                            $0.value.hasPrefix("{\"event\":\($0.key),") && $0.value.hasSuffix("\"}")
                        }
                    )
                    let inspection = try Inspection(files)
                    try #require(inspection.nextSequence >= next)
                    next = inspection.nextSequence
                }
            }
            try await group.waitForAll()
        }
    }
}
