import EventJournal
import PipelineTestSupport
import Testing

/// What the system keeps in memory of a journal that is written.
@Suite("Memory of what was written")
struct JournalMemoryTests {
    private static let lineBytes = 3 << 20

    /// How much memory of a segment is released while six events of 3 MiB are committed; `needed` is asked after each.
    private func releasedBytes(
        _ durability: JournalConfiguration.Durability = .fsync,
        needed: (UInt64) -> UInt64
    ) throws -> Int {
        let files = SimulatedFileSystem(seed: 1)
        let configuration = JournalConfiguration(durability: durability, minimumFreeBytes: 0)
        let journal = try Journal(files, configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        for _ in 0..<6 {
            let number = try writer.commit([SampleEntry([String(repeating: "x", count: Self.lineBytes)])], now: 0)
            writer.releaseMemory { needed(number) }
        }
        return files.releasedBytes(of: journal.position.segments[0].name.text)
    }

    /// How many bytes so many of the commits take.
    private func bytes(ofCommits count: Int) -> Int { count * (FrameHeader.byteCount + Self.lineBytes + 1) }

    @Test("is released in steps of 8 MiB, once no tracker needs it")
    func released() throws {
        #expect(try releasedBytes { $0 + 1 } == bytes(ofCommits: 6))
        #expect(try releasedBytes { $0 } == bytes(ofCommits: 3))
    }

    @Test("is kept as long as a tracker needs it")
    func needed() throws {
        #expect(try releasedBytes { _ in 2 } == 0)
        #expect(try releasedBytes { _ in 3 } == bytes(ofCommits: 3))
    }

    @Test("is kept if it is not synced")
    func unsynced() throws {
        #expect(try releasedBytes(.none) { $0 + 1 } == 0)
    }
}
