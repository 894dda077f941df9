import EventJournal
import EventModel
import PipelineTestSupport
import Testing

@Suite("The digest of a plan in a frame")
struct PlanDigestTests {
    /// Lines that follow a plan.
    private struct Entry: JournalEntry {
        let sample: SampleEntry
        let planDigest: PlanDigest?

        init(_ lines: [String], plan: UInt8?) {
            sample = SampleEntry(lines)
            planDigest = plan.map { byte in
                Array(repeating: byte, count: PlanDigest.byteCount).withUnsafeBytes { PlanDigest($0) }
            }
        }

        var lines: UnsafeRawBufferPointer { sample.lines }
        var count: Int { sample.count }
        var times: ClosedRange<Int64> { sample.times }
    }

    /// The headers and lines of a journal.
    private static func frames(_ journal: Journal) throws -> [(header: FrameHeader, lines: String)] {
        var frames: [(header: FrameHeader, lines: String)] = []
        var reader = journal.reader(from: 0)
        while case .frame(let header, let lines) = try reader.next() {
            frames.append((header, String(decoding: lines, as: UTF8.self)))
        }
        return frames
    }

    @Test("is read back with the lines, and is missing if the entries of a commit differ in it or have none")
    func roundTrip() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        let (one, two) = (Entry(["{1}"], plan: 1), Entry(["{2}", "{3}"], plan: 2))
        _ = try writer.commit([one, one], now: 0)
        _ = try writer.commit([one, two], now: 0)
        _ = try writer.commit([two], now: 0)
        _ = try writer.commit([Entry(["{4}"], plan: nil), two], now: 0)
        _ = try writer.commit([SampleEntry(["{5}"])], now: 0)
        let frames = try Self.frames(journal)
        #expect(frames.map(\.header.planDigest) == [one.planDigest, nil, two.planDigest, nil, nil])
        #expect(frames.map(\.lines) == ["{1}\n{1}\n", "{1}\n{2}\n{3}\n", "{2}\n{3}\n", "{4}\n{2}\n{3}\n", "{5}\n"])
        try writer.close(now: 0)
        let again = try Journal(files, configuration: .small(), now: 0)
        #expect(try Self.frames(again).map(\.header.planDigest) == frames.map(\.header.planDigest))
    }

    @Test("makes a frame of version 2, whose header a program that knows version 1 can verify")
    func version() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([SampleEntry(["{1}"])], now: 0)
        let plain = try #require(files[SegmentName(firstSequence: 0).text]).count
        _ = try writer.commit([Entry(["{2}"], plan: 7)], now: 0)
        let bytes = try #require(files[SegmentName(firstSequence: 0).text])
        #expect(bytes[4] == 1 && bytes[plain + 4] == 2)
        #expect(bytes.count == 2 * plain + PlanDigest.byteCount)
        #expect(
            bytes[plain...].withUnsafeBytes { FrameHeader.read($0) }.map(\.frameBytes) == .success(bytes.count - plain)
        )
        // The end frame, too, so that such a program does not take the segment for one that it can read.
        try writer.close(now: 0)
        let ended = try #require(files[SegmentName(firstSequence: 0).text])
        #expect(ended[bytes.count + 4] == 2 && ended.count == bytes.count + FrameHeader.byteCount)
        #expect(try Self.frames(Journal(files, configuration: .small(), now: 0)).count == 2)
    }

    @Test("is covered by the checksum of the lines")
    func damage() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([Entry(["{1}"], plan: 7)], now: 0)
        _ = try writer.commit([Entry(["{2}"], plan: 7)], now: 0)
        files[SegmentName(firstSequence: 0).text]?[FrameHeader.byteCount + 3] ^= 1
        let contents = try JournalContents(journal)
        #expect(contents.lines == [1: "{2}"])
        #expect(contents.damages.count == 1)
    }
}
