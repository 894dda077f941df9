import EventJournal
import PipelineTestSupport
import TestCases
import TestPromises
import Testing

@Suite("The repair of a journal")
struct JournalRepairTests {
    @Test("with any byte flipped, it removes that frame, and keeps its bytes and all other frames")
    func flipped() throws {
        let sample = try JournalSample()
        for place in sample.places.dropLast() {
            let bytes = try #require(sample.files[place.segment])
            for position in place.range {
                sample.files[place.segment]?[position] ^= 1 << UInt8(position % 8)
                let damaged = sample.files[place.segment].map { Array($0[place.range]) }
                let repair = try JournalRepair(sample.files, now: 0)
                let what = "\(place.segment) \(position)"
                #expect(repair.cuts.map(\.damage.range) == [place.range], "\(what)")
                let kept = try #require(repair.cuts.first?.keptIn)
                #expect(sample.files[kept] == damaged, "\(what)")
                let found = try Verification(sample.files)
                #expect(found.isIntact, "\(what)")
                #expect(try JournalSample.lines(of: sample.files) == sample.lines(without: [place]), "\(what)")
                #expect(try sample.files.names().allSatisfy { !$0.hasSuffix(".repair") }, "\(what)")
                sample.files[place.segment] = bytes
                sample.files[kept] = nil
            }
        }
    }

    @Test("afterwards the journal opens without findings, and continues with the next sequence number")
    func opened() throws {
        let sample = try JournalSample()
        for place in sample.places.dropLast() where !place.numbers.isEmpty {
            let copy = SimulatedFileSystem(seed: 1)
            for name in sample.segments { copy[name] = sample.files[name] }
            copy[place.segment]?[place.range.lowerBound] ^= 1
            _ = try JournalRepair(copy, now: 0)
            let journal = try Journal(copy, configuration: .small(), now: 0)
            #expect(journal.recovery.sentences.isEmpty)
            #expect(journal.position.nextSequence == UInt64(sample.lines.count))
            #expect(try JournalContents(journal).lines == sample.lines(without: [place]))
        }
    }

    @Test("an interrupted commit at the end is left to the next opening")
    func unfinished() throws {
        let sample = try JournalSample()
        let (first, last) = try (#require(sample.places.first), #require(sample.places.last))
        let inLast = try #require(sample.places.first { $0.segment == last.segment })
        try #require(inLast != last)
        sample.files[last.segment]?.removeLast(3)
        for place in [first, inLast] { sample.files[place.segment]?[place.range.lowerBound + 20] ^= 1 }
        let repair = try JournalRepair(sample.files, now: 0)
        #expect(repair.cuts.map(\.damage.segment) == [first.segment, last.segment])
        let found = try Verification(sample.files)
        #expect(found.isIntact)
        #expect(found.unfinished?.byteCount == last.range.count - 3)
        #expect(try JournalSample.lines(of: sample.files) == sample.lines(without: [first, inLast, last]))
    }

    @Test("a gap stays a gap, also after a segment whose end was damaged")
    func gap() throws {
        let sample = try JournalSample()
        let end = try #require(sample.places.last { $0.segment == sample.segments[0] })
        sample.files[end.segment]?[end.range.lowerBound] ^= 1
        try sample.files.remove(sample.segments[1])
        // More numbers than bytes can explain.
        let far = SegmentName(firstSequence: 1_000_000).text
        sample.files[far] = sample.files[sample.segments[2]]
        try sample.files.remove(sample.segments[2])
        _ = try JournalRepair(sample.files, now: 0)
        let found = try Verification(sample.files)
        #expect(found.damages.isEmpty)
        #expect(found.gaps.map(\.before) == [far])
    }

    @Test("bytes that were removed at the same place before are kept, too")
    func again() throws {
        let sample = try JournalSample()
        let places = sample.places.prefix(2)
        for place in places {
            // The second now stands where the first did.
            sample.files[place.segment]?[4] ^= 0x80
            _ = try JournalRepair(sample.files, now: 0)
        }
        let name = sample.segments[0]
        let sizes = ["\(name).0.cut", "\(name).0.2.cut"].map { sample.files[$0]?.count }
        #expect(sizes == places.map(\.range.count))
        #expect(try JournalSample.lines(of: sample.files) == sample.lines(without: Array(places)))
    }

    @Test("a frame of a newer format is left in place")
    func newerFormat() throws {
        let sample = try JournalSample()
        let place = sample.places[1]
        var bytes = try #require(sample.files[place.segment])
        let start = place.range.lowerBound
        bytes[start + 4] = 3
        bytes.replaceSubrange(
            start + 52..<start + 56,
            with: JournalDamageTests.checksum(Array(bytes[start..<start + 52]))
        )
        sample.files[place.segment] = bytes
        let repair = try JournalRepair(sample.files, now: 0)
        #expect(repair.cuts.isEmpty)
        #expect(repair.left.map(\.range) == [place.range])
        #expect(sample.files[place.segment] == bytes)
    }

    @Test("after random damage it leaves an intact journal with all events that were readable before")
    func mutated() throws {
        for seed in 0..<500 as Range<UInt64> {
            let sample = try JournalSample(commits: 12, eventsEach: 2)
            var random = SeededGenerator(seed: seed)
            for _ in 0...Int.random(in: 0..<4, using: &random) { Self.damage(sample, &random) }
            let before = try JournalSample.lines(of: sample.files)
            let all = sample.segments.reduce(0) { $0 + (sample.files[$1]?.count ?? 0) }
            // At the end of the last segment, after a frame, they can be preallocated.
            let zeros = sample.segments.last.flatMap { sample.files[$0] }?.reversed().prefix { $0 == 0 }.count ?? 0
            #expect([all, all - zeros].contains(try Verification(sample.files).byteCount), "seed \(seed)")
            let repair = try JournalRepair(sample.files, now: 0)
            #expect(repair.left.isEmpty)
            #expect(try Verification(sample.files).damages.isEmpty, "seed \(seed)")
            #expect(try JournalSample.lines(of: sample.files) == before, "seed \(seed)")
            #expect(try JournalRepair(sample.files, now: 0).cuts.isEmpty, "seed \(seed)")
        }
    }

    @Test("a crash or a disk error in the middle loses no readable event", .promise("damaged-journal"))
    func crashes() throws {
        var failed = 0
        for seed in 0..<500 as Range<UInt64> {
            let sample = try JournalSample()
            let files = SimulatedFileSystem(seed: seed)
            for name in sample.segments { files[name] = sample.files[name] }
            let lost = [sample.places[1], sample.places[2]]
            for place in lost { files[place.segment]?[place.range.lowerBound + 57] ^= 1 }
            let damaged = try Verification(files).damages
            let bytes = try damaged.map { try #require(files[$0.segment])[$0.range] }
            files.setFailures(150)
            do { _ = try JournalRepair(files, now: 0) } catch { failed += 1 }
            files.crash()
            files.setFailures(0)
            #expect(try JournalSample.lines(of: files) == sample.lines(without: lost), "seed \(seed)")
            _ = try JournalRepair(files, now: 0)
            #expect(try Verification(files).isIntact, "seed \(seed)")
            #expect(try JournalSample.lines(of: files) == sample.lines(without: lost), "seed \(seed)")
            let kept = try files.names().filter { $0.hasSuffix(".cut") }.compactMap { files[$0] }
            for bytes in bytes { #expect(kept.contains { $0.elementsEqual(bytes) }, "seed \(seed)") }
        }
        #expect(failed > 100)
    }

    private static func damage(_ sample: JournalSample, _ random: inout SeededGenerator) {
        guard let name = sample.segments.randomElement(using: &random), var bytes = sample.files[name], bytes.count > 60
        else { return }
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 1..<120, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.removeSubrange(start..<end)
        case 2: bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
        case 3: bytes.removeLast(bytes.count - start)
        default:
            let filling = (start..<end).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            bytes.insert(contentsOf: filling, at: start)
        }
        sample.files[name] = bytes
    }
}
