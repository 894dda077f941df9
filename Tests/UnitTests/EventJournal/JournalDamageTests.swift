import EventJournal
import PipelineTestSupport
import TestCases
import TestPromises
import Testing

/// A journal of one segment with frames whose places are known, damaged in every way.
@Suite("A damaged journal")
struct JournalDamageTests {
    private static let events = 5

    /// The segment's bytes, ended or as a crash leaves it, and where its frames begin.
    private static func segment(isEnded: Bool) throws -> (bytes: [UInt8], frames: [Int]) {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        var frames: [Int] = []
        for number in 0..<events {
            frames.append(files[name]?.count ?? 0)
            _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 0)
        }
        frames.append(files[name]?.count ?? 0)
        if isEnded { try writer.close(now: 0) }
        return (files[name] ?? [], frames)
    }

    private static let name = SegmentName(firstSequence: 0).text

    private static func open(_ bytes: [UInt8]) throws -> (Journal, SimulatedFileSystem, JournalContents) {
        let files = SimulatedFileSystem(seed: 1)
        files[name] = bytes
        let journal = try Journal(files, configuration: .small(), now: 0)
        return (journal, files, try JournalContents(journal))
    }

    private static func expected(_ numbers: some Sequence<Int>) -> [UInt64: String] {
        Dictionary(uniqueKeysWithValues: numbers.map { (UInt64($0), "{\"event\":\($0)}") })
    }

    @Test(
        "truncated at any byte, it has the frames before, and reports and keeps what it cut off",
        .promise("damaged-journal")
    )
    func truncated() throws {
        let (bytes, frames) = try Self.segment(isEnded: false)
        for length in 0...bytes.count {
            let (journal, files, contents) = try Self.open(Array(bytes[..<length]))
            let whole = frames.lastIndex { $0 <= length } ?? 0
            #expect(contents.lines == Self.expected(0..<whole), "cut at \(length)")
            #expect(contents.damages.isEmpty)
            let rest = bytes[frames[whole]..<length]
            // After a frame, zeros can be preallocated.
            let zeros = whole == 0 ? 0 : rest.reversed().prefix { $0 == 0 }.count
            let cuts = journal.recovery.cuts
            let kept = rest.isEmpty ? [] : [Array(rest.dropLast(zeros))]
            #expect(cuts.map { files[$0.keptIn] } == kept, "cut at \(length)")
            #expect(journal.recovery.isIntact)
            #expect(journal.position.nextSequence >= UInt64(whole))
        }
    }

    @Test(
        "with any byte flipped, it has all other frames, and reports the lost one",
        .promise("damaged-journal"),
        arguments: [false, true]
    )
    func flipped(isEnded: Bool) throws {
        let (bytes, frames) = try Self.segment(isEnded: isEnded)
        for position in bytes.indices {
            var damaged = bytes
            damaged[position] ^= 1 << UInt8(position % 8)
            let (journal, _, contents) = try Self.open(damaged)
            let lost = (frames.lastIndex { $0 <= position } ?? 0)
            #expect(contents.lines == Self.expected((0..<Self.events).filter { $0 != lost }), "byte \(position)")
            let told = journal.recovery.cuts.map(\.damage) + contents.damages
            #expect(told.map(\.offset) == [frames[lost]], "byte \(position)")
        }
    }

    @Test("damage is left in place, and is found again at the next opening")
    func untouched() throws {
        var (bytes, frames) = try Self.segment(isEnded: false)
        bytes[frames[2] + 60] ^= 1
        let (_, files, _) = try Self.open(bytes)
        #expect(files[Self.name].map { Array($0[..<bytes.count]) } == bytes)
        let again = try Journal(files, configuration: .small(), now: 0)
        #expect(try JournalContents(again).damages.map(\.offset) == [frames[2]])
    }

    @Test(
        "a frame of a newer format is reported as such, and the frames after it are read",
        .promise("unusable-journal")
    )
    func newerFormat() throws {
        var (bytes, frames) = try Self.segment(isEnded: true)
        let header = bytes[frames[1]..<frames[1] + 52]
        var newer = Array(header)
        newer[4] = 3
        bytes.replaceSubrange(frames[1]..<frames[1] + 56, with: newer + Self.checksum(newer))
        let (_, _, contents) = try Self.open(bytes)
        #expect(contents.damages.map(\.flaw) == [.header(.newerFormat(3))])
        #expect(contents.lines == Self.expected([0, 2, 3, 4]))
    }

    @Test("a missing segment is a gap, with its place", .promise("damaged-journal"))
    func missingSegment() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<100 { _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 0) }
        let segments = journal.position.segments
        try #require(segments.count > 3)
        try files.remove(segments[1].name.text)
        let again = try Journal(files, configuration: .small(), now: 0)
        #expect(again.recovery.gaps.map(\.from) == [segments[1].name.firstSequence])
        #expect(again.recovery.gaps.map(\.to) == [segments[2].name.firstSequence])
        #expect(again.recovery.gaps.map(\.before) == [segments[2].name.text])
        let lost = segments[1].name.firstSequence..<segments[1].nextSequence
        #expect(try JournalContents(again).order == (0..<100).filter { !lost.contains($0) })
    }

    @Test("a journal that ends with frames of a newer format is not opened", .promise("unusable-journal"))
    func newerEnd() throws {
        var (bytes, frames) = try Self.segment(isEnded: false)
        var newer = Array(bytes[frames[4]..<frames[4] + 52])
        newer[4] = 3
        bytes.replaceSubrange(frames[4]..<frames[4] + 56, with: newer + Self.checksum(newer))
        let error = #expect(throws: JournalError.self) { try Self.open(bytes) }
        #expect(error?.message.contains("newer") == true)
    }

    @Test("an empty segment in the middle does not hide the segments after it")
    func emptySegment() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<100 { _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 0) }
        let second = try #require(journal.position.segments.dropFirst().first)
        files[second.name.text] = []
        let again = try Journal(files, configuration: .small(), now: 0)
        let lost = second.name.firstSequence..<second.nextSequence
        #expect(try JournalContents(again).order == (0..<100).filter { !lost.contains($0) })
    }

    @Test("sequence numbers below a tracker's cursor are not reused after segments were lost")
    func lostSegments() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<100 { _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 0) }
        var cursor = try journal.cursor(ofTracker: "alpha")
        try cursor.move(to: 90, syncs: true)
        for segment in journal.position.segments { try files.remove(segment.name.text) }
        let again = try Journal(files, configuration: .small(), now: 0)
        var next = JournalWriter(again)
        #expect(try next.commit([SampleEntry(["{}"])], now: 0) >= 90)
    }

    @Test(
        "a truncated segment in the middle of the journal is read to its end, and reported",
        .promise("damaged-journal")
    )
    func shortSegment() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        for number in 0..<100 { _ = try writer.commit([SampleEntry(["{\"event\":\(number)}"])], now: 0) }
        let second = try #require(journal.position.segments.dropFirst().first)
        let bytes = try #require(files[second.name.text])
        files[second.name.text] = Array(bytes.dropLast(100))
        let again = try Journal(files, configuration: .small(), now: 0)
        #expect(again.recovery.damages.count == 1)
        #expect(again.recovery.gaps.count == 1)
        #expect(try JournalContents(again).order.count == 99)
    }

    /// CRC-32C, bit by bit.
    static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var state = UInt32.max
        for byte in bytes {
            state ^= UInt32(byte)
            for _ in 0..<8 { state = state & 1 == 1 ? state >> 1 ^ 0x82F6_3B78 : state >> 1 }
        }
        return withUnsafeBytes(of: (~state).littleEndian) { Array($0) }
    }

    @Test("the checksum is CRC-32C, least significant byte first")
    func checksumOfHeader() throws {
        let (bytes, _) = try Self.segment(isEnded: true)
        #expect(Self.checksum(Array("123456789".utf8)) == [0x83, 0x92, 0x06, 0xE3])
        #expect(Array(bytes[52..<56]) == Self.checksum(Array(bytes[..<52])))
    }
}
