import EventJournal
import PipelineTestSupport
import TestCases
import Testing

@Suite("The verification of a journal")
struct VerificationTests {
    @Test("counts segments, frames and events, and finds an intact journal intact")
    func intact() throws {
        let sample = try JournalSample(commits: 9, eventsEach: 2)
        let found = try Verification(sample.files)
        #expect(found.isIntact && found.unfinished == nil && found.skips.isEmpty)
        #expect(found.segmentCount == sample.segments.count && sample.segments.count > 2)
        #expect(found.frameCount == sample.places.count)
        #expect(found.eventCount == 18)
        #expect(found.byteCount == sample.segments.reduce(0) { $0 + (sample.files[$1]?.count ?? 0) })
    }

    @Test("an empty journal is intact")
    func empty() throws {
        let found = try Verification(SimulatedFileSystem(seed: 1))
        #expect(found.isIntact && found.byteCount == 0)
    }

    @Test("with any byte flipped, it names the frame")
    func flipped() throws {
        let sample = try JournalSample()
        for place in sample.places {
            let bytes = try #require(sample.files[place.segment])
            for position in place.range {
                sample.files[place.segment]?[position] ^= 1 << UInt8(position % 8)
                let found = try Verification(sample.files)
                let isLast = place == sample.places.last
                let told = isLast ? found.unfinished.map { [$0] } ?? [] : found.damages
                #expect(told.map(\.range) == [place.range], "\(place.segment) \(position)")
                #expect(told.map(\.segment) == [place.segment], "\(place.segment) \(position)")
                #expect(found.isIntact == isLast, "\(place.segment) \(position)")
                #expect(found.byteCount == sample.segments.reduce(0) { $0 + (sample.files[$1]?.count ?? 0) })
                sample.files[place.segment] = bytes
            }
        }
    }

    @Test("with the last segment truncated at any byte, it reports no damage")
    func unfinished() throws {
        let sample = try JournalSample()
        let name = try #require(sample.segments.last)
        let bytes = try #require(sample.files[name])
        for length in 0...bytes.count {
            sample.files[name] = Array(bytes[..<length])
            let found = try Verification(sample.files)
            #expect(found.isIntact, "cut at \(length)")
            let isWhole = length == 0 || sample.places.contains { $0.segment == name && $0.range.upperBound == length }
            #expect((found.unfinished == nil) == isWhole, "cut at \(length)")
            #expect(sample.files[name]?.count == length)
        }
    }

    @Test("with another segment truncated at any byte, it reports damage or a gap")
    func short() throws {
        let sample = try JournalSample()
        let name = sample.segments[1]
        let bytes = try #require(sample.files[name])
        let end = try #require(sample.places.last { $0.segment == name }).range.lowerBound
        for length in 0..<bytes.count where length != end {
            sample.files[name] = Array(bytes[..<length])
            #expect(try !Verification(sample.files).isIntact, "cut at \(length)")
        }
    }

    @Test("a missing segment is a gap")
    func missingSegment() throws {
        let sample = try JournalSample()
        try sample.files.remove(sample.segments[1])
        let lost = sample.places.filter { $0.segment == sample.segments[1] }
        let found = try Verification(sample.files)
        #expect(found.damages.isEmpty)
        #expect(found.gaps.map(\.from) == [lost.first?.numbers.lowerBound])
        #expect(found.gaps.map(\.to) == [lost.last?.numbers.upperBound])
        #expect(found.gaps.map(\.before) == [sample.segments[2]])
    }

    @Test("frames missing within a segment are a gap, or a skip if a repair kept their bytes")
    func missingFrame() throws {
        let sample = try JournalSample()
        let lost = sample.places[1]
        sample.files[lost.segment]?.removeSubrange(lost.range)
        let place = "\(lost.segment), byte \(lost.range.lowerBound)"
        #expect(try Verification(sample.files).gaps.map(\.before) == [place])
        sample.files["\(lost.segment).\(lost.range.lowerBound).cut"] = [1]
        let explained = try Verification(sample.files)
        #expect(explained.isIntact)
        #expect(explained.skips.map(\.before) == [place])
    }

    @Test("a walk from a sequence number starts with its segment", arguments: 0..<10)
    func from(number: UInt64) throws {
        let sample = try JournalSample()
        var walk = try JournalWalk(sample.files, from: number)
        guard case .frame(let header, _, _) = try walk.next() else {
            Issue.record("no frame")
            return
        }
        let last = sample.places.last { $0.numbers.contains(number) || $0.numbers.lowerBound <= number }
        #expect(walk.segment?.text == last?.segment)
        #expect(header.firstSequence <= number)
    }

    @Test("a frame's lines can be limited to a start and a number")
    func lines() throws {
        let sample = try JournalSample(commits: 1, eventsEach: 4)
        var walk = try JournalWalk(sample.files)
        guard case .frame(let header, let all, _) = try walk.next() else {
            Issue.record("no frame")
            return
        }
        for from in 0...5 {
            for limit in 0...5 {
                let part = header.lines(all, from: UInt64(from), limit: limit)
                let expected = (0..<4).dropFirst(from).prefix(limit)
                #expect(part.count == expected.count)
                let texts = String(decoding: part.bytes, as: UTF8.self)
                #expect(texts == expected.map { "{\"event\":\($0)}\n" }.joined())
            }
        }
    }

    @Test("a segment that is removed during a walk is reported, and is not a gap")
    func retired() throws {
        let sample = try JournalSample()
        var walk = try JournalWalk(sample.files)
        _ = try walk.next()
        try sample.files.remove(sample.segments[1])
        var retired: [String] = []
        var numbers: [UInt64] = []
        walking: while true {
            switch try walk.next() {
            case .frame(let header, _, let skipped):
                if header.kind == .events { numbers.append(header.firstSequence) }
                #expect(skipped == nil)
            case .retired(let name): retired.append(name.text)
            case .damage, .unfinished, .gap, .passed: Issue.record("nothing else is wrong")
            case .end: break walking
            }
        }
        #expect(retired == [sample.segments[1]])
        #expect(numbers == [1, 2, 3, 8, 9, 10])
    }
}
