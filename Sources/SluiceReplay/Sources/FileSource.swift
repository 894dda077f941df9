import EventModel
import EventQuarantine
import EventValidation
package import SystemPackage
package import TrackerKit

/// Reads events from a file or standard input: NDJSON, or the output of `sluice quarantine export`, plain or gzip.
///
/// A quarantined event that states no time has that of its record, which is when it arrived.
package final class FileSource: ReplaySource {
    private let input: FileLines
    private var pending: PendingLines
    /// Quarantined events that were read and are not pending yet.
    private var quarantined: ArraySlice<QuarantinedLines> = []
    /// Whether the lines are records of a quarantine, which the first one shows; `nil` before it is read.
    private var isQuarantine: Bool?

    /// Opens a file; `nil` for standard input.
    ///
    /// - Throws: `Errno`, here and in `next`.
    package init(
        path: String?,
        _ selection: ReplaySelection,
        standardInput: FileDescriptor = .standardInput,
        stop: Interrupt
    ) throws {
        input = try FileLines(path: path, standardInput: standardInput, stop: stop)
        let validator = EventValidator(
            catalog: selection.catalog,
            identity: path == nil ? .assigned : .derivedFromContent,
            acceptsReceivedAt: true
        )
        pending = PendingLines(validator, maximumLines: selection.maximumLines)
    }

    /// The number of bytes of the file that were read.
    package var bytesRead: Int { input.bytesRead }

    /// The next lines, validated; those of one part arrived at the same time.
    package func next() throws -> ReplayPart? {
        if pending.isEmpty, quarantined.isEmpty {
            guard let lines = try input.next() else { return nil }
            let isQuarantine = isQuarantine ?? QuarantinedLines.areFirst(in: lines)
            self.isQuarantine = isQuarantine
            if isQuarantine { quarantined = QuarantinedLines.events(in: lines)[...] } else { pending.fill(lines) }
        }
        if pending.isEmpty, let next = quarantined.popFirst() { pending.fill(next.bytes, arrival: next.arrival) }
        return ReplayPart(checked: try pending.check(), isQuarantined: isQuarantine ?? false)
    }

    /// Nothing: whatever cannot be read ends a file.
    package func takeFailures() -> [String] { [] }
}

/// Consecutive events of the output of `sluice quarantine export` that arrived at the same time.
private struct QuarantinedLines {
    private static let start = Array(#"{"quarantine":"#.utf8)

    /// The events as they were sent, one a line.
    private(set) var bytes: [UInt8] = []
    /// When they arrived; `nil` if it is not known.
    let arrival: Timestamp?

    /// Whether the first of these lines is a record of a quarantine.
    static func areFirst(in lines: [UInt8]) -> Bool { lines.starts(with: start) }

    /// The events of all records; lines that are no record stay as they are.
    static func events(in lines: [UInt8]) -> [QuarantinedLines] {
        var runs: [QuarantinedLines] = []
        // After the last newline there is no further line, unless the file ends without one.
        let end = lines.last == UInt8(ascii: "\n") ? lines.count - 1 : lines.count
        for line in lines[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let arrival = QuarantineRecord(id: "", partID: "", sequence: 0, line: line)?.at
            if runs.isEmpty || runs[runs.count - 1].arrival != arrival { runs.append(Self(arrival: arrival)) }
            runs[runs.count - 1].append(line)
        }
        return runs
    }

    private mutating func append(_ line: ArraySlice<UInt8>) {
        bytes += line.starts(with: Self.start) ? Quarantine.original(ofLine: line) ?? Array(line) : Array(line)
        bytes.append(UInt8(ascii: "\n"))
    }
}
