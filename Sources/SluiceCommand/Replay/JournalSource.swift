import EventJournal
import TrackerKit

/// The lines of a journal, which another process may be writing; it is read up to where it ends when it is come by.
///
/// What is damaged or missing is noted, and reading goes on behind it. Segments and frames that hold no event of the
/// times sought are not read.
final class JournalSource: ReplayInput {
    private static let scheme = "journal://"
    private static let chunkBytes = 256 << 10

    private let stop: Interrupt
    private var walk: JournalWalk
    private var failures: [String] = []

    /// The folder that a path names as a journal's; `nil` where it names something else.
    static func folder(ofPath path: String) -> String? {
        path.hasPrefix(scheme) ? String(path.dropFirst(scheme.count)) : nil
    }

    /// How many bytes a journal's segments have; `nil` where that cannot be said.
    static func byteCount(ofFolder folder: String) -> Int? {
        guard let files = try? ExistingJournal(reading: folder).files, let names = try? files.names() else {
            return nil
        }
        return names.reduce(into: Int?.some(0)) { total, name in
            guard SegmentName(name) != nil, let sum = total else { return }
            total = (try? files.open(name, creates: false).size()).map { sum + $0 }
        }
    }

    /// Opens the journal in a folder.
    ///
    /// - Throws: `JournalError` and `FileError` where it cannot be read.
    init(folder: String, times: ClosedRange<Int64>?, stop: Interrupt) throws {
        self.stop = stop
        let files = try ExistingJournal(reading: folder).files
        walk = try JournalWalk(files, selecting: times.map { FrameSelection(times: $0) })
    }

    var bytesRead: Int { walk.byteCount }

    func next() -> [UInt8]? {
        var lines: [UInt8] = []
        while !stop.isRaised, lines.count < Self.chunkBytes, read(into: &lines) {}
        return lines.isEmpty ? nil : lines
    }

    func takeFailures() -> [String] {
        defer { failures = [] }
        return failures
    }

    /// Reads one frame; false at the end.
    private func read(into lines: inout [UInt8]) -> Bool {
        do throws(FileError) {
            switch try walk.next() {
            case .frame(_, let bytes, _): lines.append(contentsOf: bytes)
            case .damage(let damage): failures.append(damage.description)
            case .gap(let gap): failures.append(gap.description)
            case .retired(let segment): failures.append("\(segment.text) was removed before it could be read")
            // Of an unfinished commit nobody was told that its events are safe.
            case .passed, .unfinished: break
            case .end: return false
            }
        } catch {
            failures.append(error.description)
            walk.passSegment()
        }
        return true
    }
}
