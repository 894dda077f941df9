import EventJournal
import Foundation
import PipelineTestSupport
import TestPromises
import Testing

@Suite("A journal in a folder")
struct JournalFolderTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())").path

    private func write(_ range: Range<Int>, to journal: Journal) throws {
        var writer = JournalWriter(journal)
        for number in range { _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 7) }
        try writer.close(now: 7)
    }

    @Test("reopens with its contents, with files private to their owner")
    func reopened() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            try write(0..<50, to: Journal(folder: folder, configuration: .small(), now: 0))
        }
        try write(50..<100, to: Journal(folder: folder, configuration: .small(), now: 0))
        let journal = try Journal(folder: folder, configuration: .small(), now: 0)
        #expect(journal.recovery.sentences.isEmpty)
        #expect(try JournalContents(journal).order == Array(0..<100))
        #expect(try JournalContents(journal, from: 73).order == Array(73..<100))
        let manager = FileManager.default
        #expect(try manager.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
        for name in try manager.contentsOfDirectory(atPath: folder) {
            let mode = try manager.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
    }

    @Test("the creation of folders returns the parents to sync", arguments: ["", "/", "//"])
    func made(end: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let above = FileManager.default.temporaryDirectory.path
        #expect(try PosixFileSystem.makeFolders(folder + end) == [above])
        #expect(try PosixFileSystem.makeFolders(folder + "/a//b" + end) == [folder, folder + "/a"])
        #expect(try PosixFileSystem.makeFolders(folder + "/a/b" + end) == [])
    }

    @Test("a relative path is synced in the current folder")
    func relative() throws {
        let name = "journal-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: name) }
        #expect(try PosixFileSystem.makeFolders(name + "/a") == [".", name])
        let error = #expect(throws: FileError.self) { try PosixFileSystem.makeFolders("/dev/null/a") }
        #expect(error?.operation == "make")
    }

    @Test("removed bytes are kept for 90 days and as long as their segment; then the next opening removes their file")
    func oldCuts() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do { try write(0..<3, to: Journal(folder: folder, configuration: .small(), now: 0)) }
        let now = Date()
        for days in [0, 89, 91] {
            // The second segment does not exist.
            for segment in ["00000000000000000000", "00000000000000000009"] {
                let path = folder + "/\(segment).segment.\(days).cut"
                #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
                let written = now.addingTimeInterval(-86_400 * Double(days))
                try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: path)
            }
        }
        func cuts() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".cut") }.sorted()
        }
        // A clock that has not been set yet removes nothing.
        do { _ = try Journal(folder: folder, configuration: .small(), now: 0) }
        #expect(try cuts().count == 6)
        let microseconds = Int64(now.timeIntervalSince1970 * 1_000_000)
        do { _ = try Journal(folder: folder, configuration: .small(), now: microseconds) }
        let first = [0, 89, 91].map { "00000000000000000000.segment.\($0).cut" }
        #expect(try cuts() == first + [0, 89].map { "00000000000000000009.segment.\($0).cut" })
    }

    @Test("removed bytes that are kept beside segments expire while the journal is open, too, with the next segment")
    func oldCutsOfOpenJournal() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let journal = try Journal(folder: folder, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        for _ in 0..<20 { _ = try writer.commit([SampleEntry([String(repeating: "x", count: 500)])], now: 0) }
        let path = folder + "/00000000000000000900.segment.1.cut"
        #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
        let written = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let day: Int64 = 86_400_000_000
        #expect(try !journal.retire(before: 5, now: written + 89 * day).isEmpty)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try journal.retire(before: 0, now: written + 91 * day).isEmpty)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try !journal.retire(before: 20, now: written + 91 * day).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("only one process can lock the journal, and the error names that process", .promise("already-in-use"))
    func locked() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let journal = try Journal(folder: folder, now: 0)
        let error = #expect(throws: JournalError.self) { try Journal(folder: folder, now: 0) }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(getpid())") == true)
        withExtendedLifetime(journal) {}
    }

    @Test("accepts nothing beyond its limit, and continues once segments are removed")
    func full() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = JournalConfiguration.small()
        configuration.maximumBytes = 10_000
        configuration.retentionBytes = 5000
        let journal = try Journal(folder: folder, configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        let entry = SampleEntry([String(repeating: "x", count: 500)])
        var error: JournalError?
        var count: UInt64 = 0
        while error == nil, count < 100 {
            do throws(JournalError) {
                _ = try writer.commit([entry], now: 0)
                count += 1
            } catch let refused {
                error = refused
            }
        }
        #expect(error?.code == .full)
        #expect(try JournalContents(journal).order.count == Int(count))
        #expect(try journal.retire(before: 0, now: 0).isEmpty)
        let retired = try journal.retire(before: count / 2, now: 0)
        #expect(!retired.isEmpty)
        #expect(retired.allSatisfy { $0.nextSequence <= count / 2 })
        #expect(journal.position.firstSequence == retired.last?.nextSequence)
        #expect(try writer.commit([entry], now: 0) == count)
    }
}
