import EventJournal
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import Testing

/// Segments that cannot be read while a tracker goes on from the journal.
@Suite("A tracker that reads the journal", .timeLimit(.minutes(5)))
struct BrokenSegmentTests {
    private static let spilling = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)

    /// Lets a tracker fall behind by several segments, breaks one of them, and returns what it gets, and what it misses.
    private func numbers(
        breaking: @escaping @Sendable (SimulatedFileSystem, String) throws -> Void
    ) async throws -> (delivered: [Int], missing: Set<Int>, statistics: TrackerStatistics) {
        let files = SimulatedFileSystem(seed: 1)
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let harness = try PipelineHarness([tracker], journal: files, queue: Self.spilling)
        try await harness.runWithTime { pipeline in
            for number in 0..<100 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
            let segments = try files.names().compactMap { SegmentName($0) }.sorted()
            try #require(segments.count > 4)
            try breaking(files, segments[2].text)
            tracker.release()
            await pipeline.flush()
            try await pipeline.submit(PipelineHarness.batch("A", 100..<101))
            await pipeline.flush()
        }
        let delivered = tracker.deliveredNumbers
        return (
            delivered, Set(0..<101).subtracting(delivered),
            try #require(harness.pipeline.statistics[tracker: "alpha"])
        )
    }

    private func expectOneSegmentMissing(
        _ result: (delivered: [Int], missing: Set<Int>, statistics: TrackerStatistics)
    ) {
        #expect(result.delivered == result.delivered.sorted())
        #expect(Set(result.delivered).count == result.delivered.count)
        // One segment's events, which follow each other.
        #expect((2..<20).contains(result.missing.count))
        #expect((result.missing.max() ?? 0) - (result.missing.min() ?? 0) == result.missing.count - 1)
        #expect(result.statistics.dropped == result.missing.count)
        #expect(result.statistics.pendingEvents == 0)
    }

    @Test("continues after a segment that was deleted")
    func vanished() async throws {
        expectOneSegmentMissing(try await numbers { files, name in try files.remove(name) })
    }

    @Test("continues after a segment that remains unreadable")
    func unreadable() async throws {
        let result = try await numbers { files, name in files.withState { _ = $0.unreadable.insert(name) } }
        expectOneSegmentMissing(result)
    }

    @Test("reports a deleted segment with its name, and nothing else")
    func reported() throws {
        let sample = try JournalSample()
        let journal = try Journal(sample.files, configuration: .small(), now: 0)
        var reader = journal.reader(from: 0)
        _ = try reader.next()
        try sample.files.remove(sample.segments[1])
        var (numbers, damages): ([UInt64], [Damage]) = ([], [])
        reading: while true {
            switch try reader.next() {
            case .frame(let header, _): numbers.append(header.firstSequence)
            case .damage(let damage): damages.append(damage)
            case .caughtUp: break reading
            }
        }
        #expect(numbers == [1, 2, 3, 8, 9, 10])
        #expect(damages.map(\.flaw) == [.missing])
        #expect(damages.first?.description.hasPrefix("\(sample.segments[1]), byte 0: ") == true)
    }

    @Test("starts in the middle of a segment without reading the lines before it")
    func middle() throws {
        let files = SimulatedFileSystem(seed: 1)
        var configuration = JournalConfiguration.small()
        configuration.segmentBytes = 10 << 20
        let journal = try Journal(files, configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        let text = String(repeating: "x", count: 50_000)
        for _ in 0..<40 { _ = try writer.commit([SampleEntry([text])], now: 0) }
        let name = try #require(journal.position.segments.first).name.text
        var order: [UInt64] = []
        let bytes = try files.bytesRead(of: name) { order = try JournalContents(journal, from: 39).order }
        #expect(order == [39])
        #expect(bytes < 40 * 5_000 + 2 * text.utf8.count)
    }
}
