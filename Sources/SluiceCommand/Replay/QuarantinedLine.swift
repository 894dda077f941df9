import EventQuarantine
import Foundation

/// Finds the events in the lines of a quarantine, as `sluice quarantine export` prints them.
enum QuarantinedLine {
    private static let start = Array(#"{"quarantine":"#.utf8)

    /// Whether the lines begin as those of a quarantine do.
    static func isFirst(in lines: [UInt8]) -> Bool { lines.starts(with: start) }

    /// The same lines with the events as they were sent; others stay as they are.
    static func events(in lines: [UInt8]) -> [UInt8] {
        var events: [UInt8] = []
        events.reserveCapacity(lines.count)
        // Behind the last newline there is no further line, unless the file ends without one.
        let end = lines.last == UInt8(ascii: "\n") ? lines.count - 1 : lines.count
        for line in lines[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            events += line.starts(with: start) ? Quarantine.original(ofLine: line) ?? Array(line) : Array(line)
            events.append(UInt8(ascii: "\n"))
        }
        return events
    }
}
