import EventJournal
import EventValidation
package import TrackerKit

/// Reads the events of a journal, which another process may be writing, up to the end that it has when it is reached.
///
/// Damaged and missing parts are reported, and reading continues after them. Segments and frames without an event at the
/// selected times are skipped without reading them.
package final class JournalSource: ReplaySource {
    private static let chunkBytes = 256 << 10

    private let stop: Interrupt
    private var walk: JournalWalk
    private var pending: PendingLines
    private var failures: [String] = []

    /// The number of bytes in a journal's segments; `nil` if it cannot be determined.
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
    /// - Throws: `JournalError` or `FileError` if it cannot be read.
    package init(folder: String, _ selection: ReplaySelection, stop: Interrupt) throws {
        self.stop = stop
        let files = try ExistingJournal(reading: folder).files
        walk = try JournalWalk(files, selecting: selection.times.map { FrameSelection(times: $0) })
        let validator = EventValidator(rereading: selection.catalog)
        pending = PendingLines(validator, maximumLines: selection.maximumLines)
    }

    /// The number of bytes that were read or skipped so far.
    package var bytesRead: Int { walk.byteCount }

    /// The events of the next frames, validated.
    package func next() throws -> ReplayPart? {
        if pending.isEmpty {
            var lines: [UInt8] = []
            while !stop.isRaised, lines.count < Self.chunkBytes, read(into: &lines) {}
            if lines.isEmpty { return nil }
            pending.fill(lines)
        }
        return ReplayPart(checked: try pending.check())
    }

    /// A sentence for each damaged or missing part since the last call.
    package func takeFailures() -> [String] {
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
            // The events of an unfinished commit were not acknowledged.
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
