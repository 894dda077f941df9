import EventQuarantine

/// Reads a quarantine, for tests.
package enum QuarantineContents {
    /// Its lines, part by part; empty if the folder does not exist.
    package static func lines(in folder: String) throws -> [String] {
        guard var reader = try? QuarantineReader(QuarantineFolder(path: folder)) else { return [] }
        var lines: [String] = []
        while let entries = try reader.next() {
            lines += entries.lines.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        }
        return lines
    }
}
