import EventJournal
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
        configuration.maximumBytes = 100
        #expect(configuration.segmentBytes == 64 << 10)
        #expect(JournalConfiguration(segmentBytes: 1 << 30, maximumBytes: 1 << 30).segmentBytes == 256 << 20)
    }
}
