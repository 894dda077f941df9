import EventJournal
import PipelineTestSupport
import TestPromises
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

    @Test("the next successful sync saves what a failed sync did not", .promise("power-failure"), arguments: 1...50)
    func rewritten(seed: UInt64) throws {
        #expect(try surviving(seed: seed, more: 0) == Array(0..<5))
        #expect(try surviving(seed: seed, more: 1) == Array(0..<6))
    }

    @Test("ending the segment saves what a failed sync did not", arguments: 1...50)
    func segmentEnd(seed: UInt64) throws {
        #expect(try surviving(seed: seed, more: 40) == Array(0..<45))
    }

    @Test("a sync that fails while a segment is ended is repeated", arguments: 1...50)
    func failedEnd(seed: UInt64) throws {
        let files = SimulatedFileSystem(seed: seed)
        let journal = try Journal(files, configuration: .small(.interval(.seconds(1))), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<5 { _ = try writer.commit([SampleEntry(["{\"first\":\(number)}"])], now: 0) }
        files.failSyncs()
        // Too long for what the segment has left.
        #expect(throws: JournalError.self) { try writer.commit([SampleEntry([Self.long])], now: 0) }
        files.failSyncs(false)
        try writer.sync()
        let copy = try JournalContents(Journal(files.crashedCopy(), configuration: .small(), now: 0))
        #expect(copy.order == Array(0..<5))
    }

    @Test(
        "bytes that the system lost are reported once, and later ones are saved",
        .promise("power-failure"),
        arguments: 1...50
    )
    func forgotten(seed: UInt64) throws {
        let files = SimulatedFileSystem(seed: seed)
        files.withState { $0.forgetsUnsynced = true }
        let journal = try Journal(files, configuration: .small(.interval(.seconds(1))), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<5 { _ = try writer.commit([SampleEntry(["{\"first\":\(number)}"])], now: 0) }
        files.failSyncs()
        #expect(throws: JournalError.self) { try writer.sync() }
        files.failSyncs(false)
        let saved = try JournalContents(Journal(files.crashedCopy(), configuration: .small(), now: 0)).order
        if saved.count < 5 {
            #expect(throws: JournalError.self) { try writer.sync() }
        }
        for number in 0..<40 { _ = try writer.commit([SampleEntry(["{\"more\":\(number)}"])], now: 0) }
        try writer.sync()
        let contents = try JournalContents(Journal(files.crashedCopy(), configuration: .small(), now: 0))
        #expect(Array(contents.order.suffix(40)) == Array(5..<45))
        #expect(contents.order.filter { $0 < 5 } == saved)
    }

    private static let long = "{\"long\":\"\(String(repeating: "x", count: 1900))\"}"
}
