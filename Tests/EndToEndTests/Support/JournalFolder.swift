import EventJournal

/// A journal in a folder, written as a server does, for the tools to look at.
enum JournalFolder {
    /// Small segments, of 4 events each where the events are short.
    static let configuration: JournalConfiguration = {
        var configuration = JournalConfiguration(minimumFreeBytes: 0)
        configuration.segmentBytes = 350
        return configuration
    }()

    /// Makes a journal in `folder/journal` with an event a line, a commit each, and ends it.
    static func write(_ lines: [String], in folder: TestFolder) throws {
        try write(lines.map { JournalledLine($0) }, in: folder)
    }

    /// Makes a journal in `folder/journal` with a commit for each line, and ends it.
    static func write(
        _ lines: [JournalledLine],
        in folder: TestFolder,
        _ configuration: JournalConfiguration = configuration
    ) throws {
        let journal = try Journal(folder: folder.path("journal"), configuration: configuration, now: 0)
        var writer = JournalWriter(journal)
        for line in lines { _ = try writer.commit([line], now: 0) }
        try writer.close(now: 0)
    }

    /// The segments' files, in order.
    static func segments(in folder: TestFolder) throws -> [String] {
        try PosixFileSystem(existing: folder.path("journal"), isReadOnly: true).names()
            .compactMap { SegmentName($0) }.sorted().map(\.text)
    }
}

/// One line to be journalled.
final class JournalledLine: JournalEntry {
    // Safe to share: written in `init` and never after.
    nonisolated(unsafe) let lines: UnsafeRawBufferPointer
    let count = 1
    let times: ClosedRange<Int64>

    /// The event's time is 2010-12-01T08:26:00Z unless told.
    init(_ line: String, microseconds: Int64 = 1_291_191_960_000_000) {
        times = microseconds...microseconds
        let text = Array((line + "\n").utf8)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        memory.copyBytes(from: text)
        lines = UnsafeRawBufferPointer(memory)
    }

    deinit {
        lines.deallocate()
    }
}
