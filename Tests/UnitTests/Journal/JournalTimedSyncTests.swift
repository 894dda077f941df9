import Journal
import Testing

/// A journal that is synced from time to time, on a disk that fails.
@Suite("Timed syncs that fail")
struct JournalTimedSyncTests {
    /// The numbers that survive a crash after a sync that failed and another that did not; between the two, `more` events
    /// are committed.
    private func surviving(seed: UInt64, more: Int) throws -> [UInt64] {
        let files = SimulatedFileSystem(seed: seed)
        let journal = try Journal(files, configuration: .small(.interval(.seconds(1))), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<5 { _ = try writer.commit([SampleEntry(["{\"first\":\(number)}"])], now: 0) }
        files.setFailures(1000)
        #expect(throws: JournalError.self) { try writer.sync() }
        files.setFailures(0)
        for number in 0..<more { _ = try writer.commit([SampleEntry(["{\"more\":\(number)}"])], now: 0) }
        try writer.sync()
        return try JournalContents(Journal(files.crashedCopy(), configuration: .small(), now: 0)).order
    }

    @Test("what a failed sync was to save is saved by the next that succeeds", arguments: 1...50)
    func rewritten(seed: UInt64) throws {
        #expect(try surviving(seed: seed, more: 0) == Array(0..<5))
        #expect(try surviving(seed: seed, more: 1) == Array(0..<6))
    }

    @Test("what a failed sync was to save is saved by the end of its segment", arguments: 1...50)
    func segmentEnd(seed: UInt64) throws {
        #expect(try surviving(seed: seed, more: 40) == Array(0..<45))
    }
}
