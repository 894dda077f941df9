import EventJournal
import Foundation
import PipelineTestSupport
import TestPromises
import Testing

/// What keeps a segment that holds events from being written over.
@Suite("The files of a journal's segments")
struct SegmentFileTests {
    @Test("a partly read folder is an error", .promise("unusable-journal"))
    func listingCutShort() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try #require(opendir(path))
        defer { closedir(folder) }
        // From here on the system refuses to go on with the listing, because it is none.
        let null = open("/dev/null", O_RDONLY)
        try #require(dup2(null, dirfd(folder)) >= 0)
        close(null)
        let error = #expect(throws: FileError.self) { try PosixFileSystem.names { readdir(folder) } }
        #expect(error?.operation == "list")
        #expect(try PosixFileSystem(path: path).names() == [])
    }

    @Test("a journal whose folder cannot be listed is not opened", .promise("unusable-journal"))
    func unlistable() throws {
        let sample = try JournalSample()
        sample.files.withState { $0.failsListing = true }
        let error = #expect(throws: JournalError.self) {
            try Journal(sample.files, configuration: .small(), now: 0)
        }
        #expect(error?.code == .unreadable)
    }

    @Test(
        "an existing file is never used as a new segment, whatever the listing said",
        .promise("unusable-journal"),
        arguments: [0, 100]
    )
    func existing(byteCount: Int) throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        let name = SegmentName(firstSequence: 0).text
        let bytes = [UInt8](repeating: 7, count: byteCount)
        files[name] = bytes
        var writer = JournalWriter(journal)
        for _ in 0..<2 {
            let error = #expect(throws: JournalError.self) { try writer.commit([SampleEntry(["{}"])], now: 0) }
            #expect(error?.code == .unwritable)
            #expect(files[name] == bytes)
        }
    }

    @Test("a file that the writer made before a failed sync of the folder is reused", .promise("unusable-journal"))
    func ownFile() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        files.withState { $0.failsFolderSyncs = true }
        #expect(throws: JournalError.self) { try writer.commit([SampleEntry(["{}"])], now: 0) }
        #expect(files[SegmentName(firstSequence: 0).text] == [])
        files.withState { $0.failsFolderSyncs = false }
        #expect(try writer.commit([SampleEntry(["{}"])], now: 0) == 0)
        #expect(try JournalContents(journal).order == [0])
    }

    @Test("the same holds for the operating system's files")
    func posix() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let files = try PosixFileSystem(path: path)
        _ = try files.create("a")
        let error = #expect(throws: FileError.self) { try files.create("a") }
        #expect(error?.isExisting == true)
    }
}
