import EventQuarantine
import EventValidation
import TrackerKit

/// Reads events from a file or standard input: NDJSON, or the output of `sluice quarantine export`, plain or gzip.
final class FileSource: ReplaySource {
    private let input: FileLines
    private var pending: PendingLines
    /// Whether the lines are records of a quarantine, which the first one shows; `nil` before it is read.
    private var isQuarantine: Bool?

    /// Opens a file; `nil` for standard input.
    ///
    /// - Throws: `Errno`, here and in `next`.
    init(path: String?, _ selection: ReplaySelection, stop: Interrupt) throws {
        input = try FileLines(path: path, stop: stop)
        let validator = EventValidator(
            catalog: selection.catalog,
            identity: path == nil ? .assigned : .derivedFromContent,
            acceptsReceivedAt: true
        )
        pending = PendingLines(validator, maximumLines: selection.maximumLines)
    }

    var bytesRead: Int { input.bytesRead }

    func next() throws -> ReplayPart? {
        if pending.isEmpty {
            guard let lines = try input.next() else { return nil }
            let isQuarantine = isQuarantine ?? QuarantinedLine.isFirst(in: lines)
            self.isQuarantine = isQuarantine
            pending.fill(isQuarantine ? QuarantinedLine.events(in: lines) : lines)
        }
        return ReplayPart(checked: try pending.check(), isQuarantined: isQuarantine ?? false)
    }

    func takeFailures() -> [String] { [] }
}

/// Finds the events in the output of `sluice quarantine export`.
private enum QuarantinedLine {
    private static let start = Array(#"{"quarantine":"#.utf8)

    /// Whether the first of these lines is a record of a quarantine.
    static func isFirst(in lines: [UInt8]) -> Bool { lines.starts(with: start) }

    /// Replaces each record by its event, as it was sent; other lines stay as they are.
    static func events(in lines: [UInt8]) -> [UInt8] {
        var events: [UInt8] = []
        events.reserveCapacity(lines.count)
        // After the last newline there is no further line, unless the file ends without one.
        let end = lines.last == UInt8(ascii: "\n") ? lines.count - 1 : lines.count
        for line in lines[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            events += line.starts(with: start) ? Quarantine.original(ofLine: line) ?? Array(line) : Array(line)
            events.append(UInt8(ascii: "\n"))
        }
        return events
    }
}
