import EventJournal
import PipelineTestSupport
import TestCases
import TestPromises
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

    /// Copies or renames a segment of a sample journal.
    private enum Misplacement: String, CaseIterable {
        case copyAtTheEnd, copyInTheMiddle, copyOfTheLastSegment, laterName, laterNameOfTheOnlySegment
    }

    @Test(
        "a copied or renamed segment is reported with its remedy, and opening the journal says the same and changes nothing",
        .promise("unusable-journal")
    )
    func misplaced() throws {
        for misplacement in Misplacement.allCases {
            let isAlone = misplacement == .laterNameOfTheOnlySegment
            let sample = try JournalSample(commits: isAlone ? 1 : 11)
            let segments = sample.segments
            func copy(_ name: String, to number: UInt64) -> String {
                let other = SegmentName(firstSequence: number).text
                sample.files[other] = sample.files[name]
                return other
            }
            let name: String
            let sentence: String
            switch misplacement {
            case .copyAtTheEnd:
                name = copy(segments[0], to: 500)
                sentence = "\(name) has events from number 0 on that the segments before it have, too"
            case .copyInTheMiddle:
                name = copy(segments[0], to: 2)
                sentence = "\(name) has events from number 0 on that the segments before it have, too"
            case .copyOfTheLastSegment:
                name = copy(try #require(segments.last), to: 500)
                sentence = "\(name) has events from number"
            case .laterName, .laterNameOfTheOnlySegment:
                let last = try #require(segments.last)
                name = copy(last, to: 500)
                try sample.files.remove(last)
                sentence = "so its name has to be \(last); rename it while no process has the journal open"
            }
            let found = try Verification(sample.files)
            #expect(!found.isIntact, "\(misplacement)")
            #expect(found.misplaced.map(\.segment.text).contains(name), "\(misplacement): \(found.misplaced)")
            #expect(
                found.misplaced.contains { $0.description.contains(sentence) },
                "\(misplacement): \(found.misplaced)"
            )
            let before = try sample.files.names().sorted().map { sample.files[$0] }
            let error = #expect(throws: JournalError.self) {
                try Journal(sample.files, configuration: .small(), now: 400)
            }
            #expect(error?.message.contains("The journal cannot be opened") == true, "\(misplacement)")
            #expect(try sample.files.names().sorted().map { sample.files[$0] } == before, "\(misplacement)")
        }
    }

    @Test("an earlier name is reported, and opening the journal still finds every event", .promise("unusable-journal"))
    func earlierName() throws {
        let sample = try JournalSample()
        let last = try #require(sample.segments.last)
        let before = try #require(sample.segments.dropLast().last)
        let earlier = SegmentName(firstSequence: try #require(SegmentName(before)).firstSequence + 1).text
        sample.files[earlier] = sample.files[last]
        try sample.files.remove(last)
        let found = try Verification(sample.files)
        #expect(found.misplaced.map(\.segment.text) == [earlier])
        let journal = try Journal(sample.files, configuration: .small(), now: 400)
        #expect(try JournalContents(journal).order == Array(0..<11))
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
