import Foundation

/// The events that are sent: real ones, gone through again on later days until there are enough.
struct Material {
    private let days: [Substring]
    private let folder: String

    /// Reads the real day that comes with the project.
    init(at site: Site) throws {
        days = try Child.run("gzip", ["-dc", site.retailDay]).split(separator: "\n")
        folder = site.scratch
        guard !days.isEmpty else { throw BenchmarkError("there are no events in \(site.retailDay)") }
    }

    /// A file of events of exactly 227 bytes each: the item's description is padded, and the longer ones are left out.
    func uniform(count: Int, bytes: Int = 227) throws -> String {
        let marker = #"","quantity":"#
        let lines = days.compactMap { line -> String? in
            guard (bytes - 27...bytes).contains(line.utf8.count), line.contains(marker) else { return nil }
            let padding = String(repeating: ".", count: bytes - line.utf8.count)
            return String(line).replacing(marker, with: padding + marker, maxReplacements: 1)
        }
        return try write("uniform-\(bytes).ndjson", count: count, of: lines)
    }

    /// A file of the real events as they are.
    func real(count: Int) throws -> String {
        try write("retail-\(count).ndjson", count: count, of: days.map(String.init))
    }

    /// Writes the lines, again and again, each time a day later, so that time goes on as it does in life.
    private func write(_ name: String, count: Int, of lines: [String]) throws -> String {
        let path = "\(folder)/\(name)"
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        let partial = path + ".partial"
        guard FileManager.default.createFile(atPath: partial, contents: nil),
            let file = FileHandle(forWritingAtPath: partial), !lines.isEmpty
        else { throw BenchmarkError("cannot write \(partial)") }
        var written = 0
        for day in 0... {
            let some = lines.prefix(count - written)
            guard !some.isEmpty else { break }
            let date = Self.date(day)
            let text = some.map { $0.replacing("2010-12-01T", with: date + "T", maxReplacements: 1) + "\n" }.joined()
            try file.write(contentsOf: Data(text.utf8))
            written += some.count
        }
        try file.close()
        try FileManager.default.moveItem(atPath: partial, toPath: path)
        return path
    }

    /// The day that many days after 1 December 2010, as `2010-12-01`.
    private static func date(_ offset: Int) -> String {
        let start = Date(timeIntervalSince1970: 1_291_161_600)
        return start.addingTimeInterval(Double(offset) * 86400).formatted(.iso8601.year().month().day())
    }
}
