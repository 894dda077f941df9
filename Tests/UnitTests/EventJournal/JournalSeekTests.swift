import EventJournal
import PipelineTestSupport
import TestCases
import Testing

/// Reading a part of a journal by time.
@Suite("A walk over the frames of a time range")
struct JournalSeekTests {
    /// How long each event is, so that reading the lines and reading the headers differ.
    private static let lineBytes = 20_000

    /// A journal of frames of these times, `framesEach` in a segment; the last segment is open.
    private func journal(
        _ times: [ClosedRange<Int64>],
        framesEach: Int,
        lineBytes: Int = lineBytes
    ) throws -> (SimulatedFileSystem, [Segment]) {
        let files = SimulatedFileSystem(seed: 1)
        var configuration = JournalConfiguration.small()
        configuration.segmentBytes = framesEach * (lineBytes + 100)
        let journal = try Journal(files, configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        for range in times {
            _ = try writer.commit([SampleEntry([String(repeating: "x", count: lineBytes)], times: range)], now: 0)
        }
        return (files, journal.position.segments)
    }

    /// The numbers of the events that a walk reads, and how many findings it has.
    private func read(
        _ files: any FileSystem,
        _ times: ClosedRange<Int64>?
    ) throws -> (numbers: [UInt64], findings: Int, byteCount: Int) {
        var walk = try JournalWalk(files, selecting: times.map { FrameSelection(times: $0) })
        var (numbers, findings): ([UInt64], Int) = ([], 0)
        while true {
            switch try walk.next() {
            case .frame(let header, _, let skipped):
                numbers += header.firstSequence..<header.nextSequence
                if skipped != nil { findings += 1 }
            case .damage, .unfinished, .gap, .retired: findings += 1
            case .passed: continue
            case .end: return (numbers, findings, walk.byteCount)
            }
        }
    }

    @Test("does not read segments outside the range, nor notice damage in them")
    func segments() throws {
        let (files, segments) = try journal((0..<12).map { $0...$0 }, framesEach: 4)
        try #require(segments.count == 3)
        let first = segments[0].name.text
        files[first]?[FrameHeader.byteCount + 100] ^= 1
        files[first]?[0] ^= 1
        let bytes = try files.bytesRead(of: first) {
            let (numbers, findings, byteCount) = try read(files, 5...6)
            #expect(numbers == [5, 6])
            #expect(findings == 0)
            #expect(byteCount == segments.reduce(0) { $0 + $1.byteCount })
        }
        #expect(bytes == FrameHeader.byteCount)
        #expect(try read(files, nil).findings > 0)
    }

    @Test("reads only the headers of frames outside the range in an open segment")
    func frames() throws {
        let (files, segments) = try journal((0..<40).map { $0...$0 }, framesEach: 100)
        try #require(segments.count == 1)
        let name = segments[0].name.text
        files[name]?[FrameHeader.byteCount + 100] ^= 1
        let bytes = try files.bytesRead(of: name) {
            let (numbers, findings, _) = try read(files, 39...1000)
            #expect(numbers == [39])
            #expect(findings == 0)
        }
        #expect(bytes < 40 * 5000 + 2 * Self.lineBytes)
        #expect(try read(files, nil).findings > 0)
    }

    @Test("reports damage whose times are unknown, and finds the frames after it")
    func damage() throws {
        let (files, segments) = try journal((0..<8).map { $0...$0 }, framesEach: 100)
        let name = segments[0].name.text
        // The header of event 3.
        files[name]?[3 * (FrameHeader.byteCount + Self.lineBytes + 1) + 20] ^= 1
        let (numbers, findings, _) = try read(files, 6...7)
        #expect(numbers == [6, 7])
        #expect(findings == 1)
    }

    @Test("finds exactly the frames that a complete read finds in this range, in any order", arguments: 0..<30)
    func agreement(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let times = (0..<60).map { _ in
            let start = Int64.random(in: 0..<100, using: &random)
            return start...start + Int64.random(in: 0..<20, using: &random)
        }
        let (files, _) = try journal(times, framesEach: Int.random(in: 1..<20, using: &random), lineBytes: 50)
        let start = Int64.random(in: -10..<120, using: &random)
        let wanted = start...start + Int64.random(in: 0..<40, using: &random)
        let (numbers, findings, _) = try read(files, wanted)
        #expect(numbers == times.indices.filter { times[$0].overlaps(wanted) }.map { UInt64($0) }, "seed \(seed)")
        #expect(findings == 0)
    }
}
