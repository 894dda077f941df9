import EventJournal
import ServerTestSupport

/// A journal in a folder, written as a server writes it, for tests of the tools.
enum JournalFolder {
    /// Small segments, each with four short events.
    static let configuration: JournalConfiguration = {
        var configuration = JournalConfiguration(minimumFreeBytes: 0)
        configuration.leastSegmentBytes = 1
        configuration.segmentBytes = 350
        return configuration
    }()

    /// Creates a journal in `folder/journal` with one commit per line, and closes it.
    static func write(_ lines: [String], in folder: TestFolder) throws {
        try write(lines.map { JournalledLine($0) }, in: folder)
    }

    /// Creates a journal in `folder/journal` with one commit per line, and closes it.
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

    /// The names of the segments' files, in order.
    static func segments(in folder: TestFolder) throws -> [String] {
        try PosixFileSystem(existing: folder.path("journal"), isReadOnly: true).names()
            .compactMap { SegmentName($0) }.sorted().map(\.text)
    }
}

/// A line to be written to a journal.
final class JournalledLine: JournalEntry {
    // Safe to share: written only in `init`.
    nonisolated(unsafe) let lines: UnsafeRawBufferPointer
    let count = 1
    let times: ClosedRange<Int64>

    /// Creates an entry; the default of the event's time is 2010-12-01T08:26:00Z.
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
