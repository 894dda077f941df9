package import EventJournal
import Testing

/// A journal in memory with a few segments, the last of which is open, and the known locations of its frames.
package struct JournalSample {
    /// The location of a frame.
    package struct Place: Equatable {
        package let segment: String
        package let range: Range<Int>
        /// The numbers of its events; empty for a frame that ends a segment.
        package let numbers: Range<UInt64>
    }

    package let files = SimulatedFileSystem(seed: 1)
    package private(set) var places: [Place] = []
    /// The lines by event number.
    package private(set) var lines: [UInt64: String] = [:]
    package private(set) var segments: [String] = []

    package init(commits: Int = 11, eventsEach: Int = 1) throws {
        var configuration = JournalConfiguration.small()
        configuration.segmentBytes = 350
        let journal = try Journal(files, configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        for commit in 0..<commits {
            let texts = (0..<eventsEach).map { "{\"event\":\(commit * eventsEach + $0)}" }
            let first = try writer.commit([SampleEntry(texts, times: 100...200)], now: 300)
            for (position, text) in texts.enumerated() { lines[first + UInt64(position)] = text }
        }
        segments = journal.position.segments.map(\.name.text)
        for name in segments {
            let file = try files.open(name, creates: false)
            var reader = FrameReader(file, name: name, to: try file.size())
            var start = 0
            while case .frame(let header, _) = try reader.next() {
                let numbers = header.firstSequence..<header.nextSequence
                places.append(Place(segment: name, range: start..<reader.offset, numbers: numbers))
                start = reader.offset
            }
        }
    }

    /// All lines except those at some locations.
    package func lines(without lost: [Place]) -> [UInt64: String] {
        lines.filter { line in !lost.contains { $0.numbers.contains(line.key) } }
    }

    /// The lines that are read from files, by event number.
    package static func lines(of files: any FileSystem) throws -> [UInt64: String] {
        var walk = try JournalWalk(files)
        var lines: [UInt64: String] = [:]
        while true {
            switch try walk.next() {
            case .frame(let header, let bytes, _):
                for (position, text) in String(decoding: bytes, as: UTF8.self).split(separator: "\n").enumerated() {
                    lines[header.firstSequence + UInt64(position)] = String(text)
                }
            case .end: return lines
            case .damage, .unfinished, .gap, .retired, .passed: continue
            }
        }
    }
}
