import EventJournal
import PipelineTestSupport
import TestCases
import TestPromises
import Testing

/// Zeros that the writer has preallocated for commits, as readers and a recovery see them.
@Suite("A journal with preallocated bytes")
struct PreallocationTests {
    private static let name = SegmentName(firstSequence: 0).text
    private static let zeros = JournalConfiguration.small().preallocationBytes
    private static let lines = (0..<3).map { "{\"event\":\($0)}" }

    /// A journal that a process has left with three commits and zeros after them.
    private static func left(
        _ durability: JournalConfiguration.Durability = .fsync
    ) throws -> (files: SimulatedFileSystem, committedBytes: Int) {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(durability), now: 0)
        var writer = JournalWriter(journal)
        for line in lines {
            _ = try writer.commit([SampleEntry([line])], now: 0)
            writer.preallocate()
        }
        return (files, journal.position.byteCount)
    }

    private static func bytes(_ files: SimulatedFileSystem) throws -> [UInt8] { try #require(files[name]) }

    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    /// Expects three commits and nothing else from everything that reads a journal which was not ended.
    private static func expectIntact(_ files: SimulatedFileSystem, _ comment: Comment? = nil) throws {
        let inspection = try Inspection(files)
        #expect(inspection.segments.map(\.strayBytes) == [0], comment)
        #expect(inspection.nextSequence == UInt64(lines.count), comment)
        let verification = try Verification(files)
        #expect(verification.isIntact && verification.unfinished == nil, comment)
        #expect(verification.eventCount == lines.count, comment)
        #expect(try JournalRepair(files, now: 0).cuts.isEmpty, comment)
    }

    @Test("its bytes are preallocated for several commits at once, and a segment ends without them")
    func filled() throws {
        let (files, committedBytes) = try Self.left()
        #expect(try Self.bytes(files).count == committedBytes / Self.lines.count + Self.zeros)
        #expect(try Self.bytes(files)[committedBytes...].allSatisfy { $0 == 0 })

        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([SampleEntry(Self.lines)], now: 0)
        writer.preallocate()
        try writer.close(now: 0)
        for segment in journal.position.segments {
            #expect(files[segment.name.text]?.count == segment.byteCount)
        }
    }

    @Test("is intact, and opened without a cut", .promise("damaged-journal"))
    func intact() throws {
        let (files, committedBytes) = try Self.left()
        #expect(try Self.bytes(files).count > committedBytes)
        try Self.expectIntact(files)
        let journal = try Journal(files, configuration: .small(), now: 0)
        #expect(journal.recovery.isIntact && journal.recovery.cuts.isEmpty)
        #expect(journal.position.nextSequence == UInt64(Self.lines.count))
        #expect(try Self.bytes(files).count == journal.position.byteCount)
        #expect(try JournalContents(journal).order.count == Self.lines.count)
    }

    @Test("is intact with any number of zeros", .promise("damaged-journal"))
    func anyNumber() throws {
        let (files, committedBytes) = try Self.left()
        let committed = try Self.bytes(files)[..<committedBytes]
        let page = 16 << 10
        for count in Array(0...2 * FrameHeader.byteCount) + [page - 1, page, page + 1, 1 << 20] {
            files[Self.name] = committed + Self.zeros(count)
            try Self.expectIntact(files, "\(count) zeros")
        }
    }

    @Test("keeps its last frame even if the frame ends with zeros", .promise("damaged-journal"))
    func frameThatEndsWithZero() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .init(minimumFreeBytes: 0), now: 0)
        var writer = JournalWriter(journal)
        // Without events, it ends with the checksum of its header, which depends on the time.
        var frames = 0
        repeat {
            frames += 1
            _ = try writer.commit([], now: Int64(frames))
        } while try Self.bytes(files).last != 0
        let committed = try Self.bytes(files)
        for count in [0, 1, 3, FrameHeader.byteCount] {
            files[Self.name] = committed + Self.zeros(count)
            let verification = try Verification(files)
            #expect(verification.isIntact && verification.unfinished == nil, "\(count) zeros")
            #expect(verification.frameCount == frames, "\(count) zeros")
            let again = try Journal(files, configuration: .small(), now: 0)
            #expect(again.recovery.cuts.isEmpty, "\(count) zeros")
            #expect(again.position.byteCount == committed.count + FrameHeader.byteCount, "\(count) zeros")
        }
    }

    @Test(
        "is intact while it is being written: a reader sees the commits that were complete when it opened the segment",
        .promise("damaged-journal")
    )
    func readMeanwhile() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        for (number, line) in Self.lines.enumerated() {
            // Opened before the commit, and read after it.
            var walk = try JournalWalk(files)
            if number > 0 { _ = try walk.next() }
            _ = try writer.commit([SampleEntry([line])], now: 0)
            writer.preallocate()
            var frames = number > 0 ? 1 : 0
            walking: while true {
                switch try walk.next() {
                case .frame: frames += 1
                case .end: break walking
                default: Issue.record("not a frame, commit \(number)")
                }
            }
            #expect(frames == number)
        }
    }

    @Test(
        "a commit torn by a crash is cut off without the zeros after it, whichever sectors survived",
        .promise("damaged-journal")
    )
    func tornCommit() throws {
        let (files, committedBytes) = try Self.left()
        let committed = try Self.bytes(files)[..<committedBytes]
        // Small events, so that there are more of them than bytes in the first sectors.
        let events = 500
        let other = SimulatedFileSystem(seed: 1)
        var writer = JournalWriter(try Journal(other, configuration: .small(), now: 0))
        _ = try writer.commit([SampleEntry(Array(repeating: "{}", count: events))], now: 0)
        let frame = try Self.bytes(other)
        let sector = 256
        func sectorOfByte(_ index: Int) -> Int { (committedBytes + index) / sector - committedBytes / sector }
        let sectors = sectorOfByte(frame.count - 1) + 1
        try #require(sectors > 5 && sectors < 10)
        try #require(sectorOfByte(FrameHeader.byteCount - 1) == 1, "two sectors share the header")
        // All sets of sectors but the whole frame, which would be a commit.
        for kept in 0..<(1 << sectors) - 1 {
            var torn = frame
            for index in torn.indices where kept & 1 << sectorOfByte(index) == 0 { torn[index] = 0 }
            files[Self.name] = committed + torn + Self.zeros(Self.zeros)
            let end = torn.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0

            let verification = try Verification(files)
            #expect(verification.damages.isEmpty, "sectors \(kept)")
            #expect(verification.unfinished?.byteCount ?? 0 == end, "sectors \(kept)")
            let journal = try Journal(files, configuration: .small(), now: 0)
            #expect(journal.recovery.cuts.map(\.damage.byteCount) == (end == 0 ? [] : [end]), "sectors \(kept)")
            #expect(journal.recovery.cuts.allSatisfy { $0.damage.offset == committedBytes }, "sectors \(kept)")
            #expect(try JournalContents(journal).lines.count == Self.lines.count, "sectors \(kept)")
            // If a reader already has its events, no other events get their numbers.
            let skipped = Int(journal.position.nextSequence) - Self.lines.count
            #expect(end == 0 ? skipped == 0 : skipped >= events, "sectors \(kept)")
            // With the whole header, their number is known.
            if kept & 0b11 == 0b11 { #expect(skipped == max(events, end), "sectors \(kept)") }
        }
    }

    @Test("is repaired without the zeros at its end")
    func repaired() throws {
        let (files, committedBytes) = try Self.left()
        let frameBytes = committedBytes / Self.lines.count
        files[Self.name]?[frameBytes + FrameHeader.byteCount + 5] ^= 1
        #expect(try JournalRepair(files, now: 0).cuts.map(\.damage.range) == [frameBytes..<2 * frameBytes])
        #expect(try Self.bytes(files).count == committedBytes - frameBytes)
        #expect(try Verification(files).isIntact)
    }

    @Test("the frames before an unreadable sector are read", .promise("damaged-journal"))
    func badSector() throws {
        struct BadFile: JournalFile {
            let file: any JournalFile
            let readableBytes: Int

            func size() throws(FileError) -> Int { try file.size() }
            func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
                guard offset + buffer.count <= readableBytes else { throw FileError("read", "file", 5) }
                return try file.read(into: buffer, at: offset)
            }
            func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) {}
            func sync() {}
            func truncate(to size: Int) {}
            func releaseMemory(before offset: Int) {}
        }
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .init(minimumFreeBytes: 0), now: 0)
        var writer = JournalWriter(journal)
        // More than the reader reads at once.
        let large = String(repeating: "x", count: 700 << 10)
        for _ in 0..<3 { _ = try writer.commit([SampleEntry([large])], now: 0) }
        let bad = BadFile(file: try files.open(Self.name, creates: false), readableBytes: 1 << 20)
        var reader = try FrameReader(last: bad, name: Self.name)
        guard case .frame = try reader.next() else { return #expect(Bool(false), "the first frame is readable") }
        do {
            _ = try reader.next()
            Issue.record("the second frame is not readable")
        } catch {
            #expect(error.isMediaError)
        }
    }

    @Test("zeros in the place of committed events are damage, if the segment is not the last", arguments: [1, 2, 3])
    func inPlaceOfCommits(lostFrames: Int) throws {
        let (files, committedBytes) = try Self.left()
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([SampleEntry(["{\"event\":3}"])], now: 0)
        let start = committedBytes - lostFrames * (committedBytes / Self.lines.count)
        let bytes = try Self.bytes(files)
        files[Self.name] = bytes[..<start] + Self.zeros(bytes.count - start)
        #expect(try JournalContents(journal).damages.map(\.offset) == [start])
        #expect(try Verification(files).damages.map(\.offset) == [start])
        #expect(try Journal(files, configuration: .small(), now: 0).recovery.damages.map(\.offset) == [start])
    }

    @Test(
        "zeros after commits that were not synced are cut off: the size survived a power failure, and the bytes did not",
        .promise("damaged-journal"),
        arguments: [JournalConfiguration.Durability.none, .interval(.seconds(1))]
    )
    func unsynced(durability: JournalConfiguration.Durability) throws {
        let (files, committedBytes) = try Self.left(durability)
        try #require(try Self.bytes(files).count == committedBytes, "nothing is preallocated")
        files[Self.name]? += Self.zeros(100)
        #expect(try Verification(files).unfinished?.byteCount == 100)
        let journal = try Journal(files, configuration: .small(durability), now: 0)
        #expect(journal.recovery.cuts.map(\.damage.byteCount) == [100])
    }

    @Test("bytes are not preallocated where a limit leaves no room, or for large commits")
    func notPreallocated() throws {
        var full = JournalConfiguration.small()
        full.maximumBytes = Self.zeros
        var short = JournalConfiguration.small()
        short.segmentBytes = Self.zeros
        var reserved = JournalConfiguration.small()
        reserved.minimumFreeBytes = 1 << 20
        let line = Self.lines[0]
        let large = String(repeating: "x", count: 64 << 10)
        let cases = [(full, line), (short, line), (reserved, line), (JournalConfiguration(minimumFreeBytes: 0), large)]
        for (configuration, line) in cases {
            let files = SimulatedFileSystem(seed: 1)
            files.withState { $0.free = reserved.minimumFreeBytes + Self.zeros }
            let journal = try Journal(files, configuration: configuration, now: 0)
            var writer = JournalWriter(journal)
            _ = try writer.commit([SampleEntry([line])], now: 0)
            writer.preallocate()
            #expect(try Self.bytes(files).count == journal.position.byteCount, "\(configuration)")
        }
    }

    @Test("bytes that cannot be preallocated take no room, and fail no commit", .promise("full-disk"))
    func unwritable() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([SampleEntry([Self.lines[0]])], now: 0)
        files.withState { $0.failingWrites = 1 }
        writer.preallocate()
        #expect(try Self.bytes(files).count == journal.position.byteCount)
        let isTriedAgain = writer.wantsPreallocation()
        #expect(!isTriedAgain, "for the same segment")
        _ = try writer.commit([SampleEntry([Self.lines[1]])], now: 0)
        try Self.expectEvents([0, 1], files, journal)
    }

    @Test(
        "after a failed sync, nothing more is preallocated in the segment, and commits succeed",
        .promise("power-failure")
    )
    func unsyncable() throws {
        let (files, _) = try Self.left()
        let journal = try Journal(files, configuration: .small(), now: 0)
        var writer = JournalWriter(journal)
        _ = try writer.commit([SampleEntry([Self.lines[0]])], now: 0)
        writer.preallocate()
        files.failSyncs()
        #expect(throws: JournalError.self) { try writer.commit([SampleEntry([Self.lines[1]])], now: 0) }
        let isTriedAgain = writer.wantsPreallocation()
        #expect(!isTriedAgain, "for the same segment")
        files.failSyncs(false)
        _ = try writer.commit([SampleEntry([Self.lines[2]])], now: 0)
        try Self.expectEvents([0, 1, 2, 3, 4], files, journal)
        let crashed = try Journal(files.crashedCopy(), configuration: .small(), now: 0)
        #expect(try JournalContents(crashed).order == [0, 1, 2, 3, 4])
    }

    private static func expectEvents(_ numbers: [UInt64], _ files: SimulatedFileSystem, _ journal: Journal) throws {
        #expect(try JournalContents(journal).order == numbers)
        let last = try #require(journal.position.segments.last)
        let bytes = try #require(files[last.name.text])
        #expect(bytes[last.byteCount...].allSatisfy { $0 == 0 })
        #expect(try Verification(files).isIntact)
    }
}
