import EventJournal
import PipelineTestSupport
import Testing

@Suite("The limits of a journal") struct JournalConfigurationTests {
    @Test("a segment is at most a quarter of the journal, in whatever order the sizes are set")
    func segmentBytes() {
        var configuration = JournalConfiguration()
        #expect(configuration.segmentBytes == 256 << 20)
        configuration.maximumBytes = 1 << 20
        #expect(configuration.segmentBytes == 256 << 10)
        configuration.segmentBytes = 128 << 10
        #expect(configuration.segmentBytes == 128 << 10)
        configuration.segmentBytes = 0
        #expect(configuration.segmentBytes == 64 << 10)
        configuration.segmentBytes = 128 << 10
        configuration.maximumBytes = 100
        #expect(configuration.segmentBytes == 64 << 10)
        #expect(JournalConfiguration(segmentBytes: 1 << 30, maximumBytes: 1 << 30).segmentBytes == 256 << 20)
    }

    @Test("a disk whose free space cannot be read counts as unwritable, and is tried again")
    func unreadableFreeSpace() throws {
        let files = HookedFileSystem(SimulatedFileSystem(seed: 1))
        var configuration = JournalConfiguration.small()
        configuration.minimumFreeBytes = 1
        var writer = JournalWriter(try Journal(files, configuration: configuration, now: 0))
        files.failWrites(true)
        let entry = SampleEntry(["{}"], times: 0...0)
        let error = #expect(throws: JournalError.self) { try writer.commit([entry], now: 0) }
        #expect(error?.code == .unwritable)
        #expect(error?.isRetryable == true)
        files.failWrites(false)
        _ = try writer.commit([entry], now: 0)
    }
}
