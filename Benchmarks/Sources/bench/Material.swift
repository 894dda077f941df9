import Foundation

/// The events that are sent: real ones, repeated with later dates until there are enough.
struct Material {
    private let lines: [Substring]
    private let folder: String

    /// Reads the events of the real day that is part of the project.
    init(at site: Site) throws {
        lines = try Child.run("gzip", ["-dc", site.retailDay]).split(separator: "\n")
        folder = site.scratch
        guard !lines.isEmpty else { throw BenchmarkError("there are no events in \(site.retailDay)") }
    }

    /// A file of events of exactly 227 bytes: the item's description is padded, and longer events are left out.
    func uniform(count: Int) throws -> String {
        try write("uniform.ndjson", count: count, of: uniformLines)
    }

    /// A file of the unchanged real events.
    func real(count: Int) throws -> String {
        try write("retail-\(count).ndjson", count: count, of: lines.map(String.init))
    }

    /// The text after the item's description, before which padding is inserted.
    private static let afterDescription = #"","quantity":"#

    private var uniformLines: [String] {
        lines.compactMap { line in
            guard (200...227).contains(line.utf8.count), line.contains(Self.afterDescription) else { return nil }
            return Self.extendDescription(of: String(line), by: String(repeating: ".", count: 227 - line.utf8.count))
        }
    }

    private static func extendDescription(of line: String, by text: String) -> String {
        line.replacing(afterDescription, with: text + afterDescription, maxReplacements: 1)
    }

    /// The uniform events with the keys of each object in reverse order.
    func reversed(count: Int) throws -> String {
        try write("reversed.ndjson", count: count, of: uniformLines.map(Self.reverseKeys))
    }

    /// The uniform events, one in ten of which has a negative quantity.
    func rejected(count: Int) throws -> String {
        let lines = uniformLines.enumerated().map { number, line in
            number % 10 == 7 ? line.replacing(#""quantity":"#, with: #""quantity":-"#, maxReplacements: 1) : line
        }
        return try write("rejected.ndjson", count: count, of: lines)
    }

    /// The uniform events with escapes in the item's description.
    func escaped(count: Int) throws -> String {
        let text = #" \"caf\u00e9\" 1\/2\nred \ud83d\ude00"#
        let lines = uniformLines.map { Self.extendDescription(of: $0, by: text) }
        return try write("escaped.ndjson", count: count, of: lines)
    }

    /// The uniform events with the ids and the context that `segment(count:)` adds.
    func withContext(count: Int) throws -> String {
        let lines = uniformLines.enumerated().map { number, line in
            line.replacing(#"{"name":"#, with: #"{"id":"\#(Self.id(number))","name":"#, maxReplacements: 1)
                .replacing(#""payload":"#, with: #""context":\#(Self.context),"payload":"#, maxReplacements: 1)
        }
        return try write("context.ndjson", count: count, of: lines)
    }

    private static let context = #"{"library":{"name":"analytics-python","version":"2.4.0"}}"#

    private static func id(_ number: Int) -> String {
        "0190a2b4-0000-4000-8000-" + String(1_000_000_000_000 + number).suffix(12)
    }

    /// The uniform events as messages of Segment's Python SDK.
    func segment(count: Int) throws -> String {
        let lines = uniformLines.enumerated().map { number, line in
            let type = #"{"type":"track","messageId":"\#(Self.id(number))","event":"#
            let properties = #""context":\#(Self.context),"integrations":{},"properties":"#
            return line.replacing(#"{"name":"#, with: type, maxReplacements: 1)
                .replacing(#""time":"#, with: #""timestamp":"#, maxReplacements: 1)
                .replacing(#""payload":"#, with: properties, maxReplacements: 1)
        }
        return try write("segment.ndjson", count: count, of: lines)
    }

    /// Orders, each with the payloads of two uniform events as its lines.
    func nested(count: Int) throws -> String {
        let lines = uniformLines
        let orders: [String] = zip(lines, lines.dropFirst()).map { first, second in
            let (envelope, item) = Self.split(first)
            let order = #"{"order":{"lines":[\#(item),\#(Self.split(second).payload)]}}"#
            return envelope.replacing(#/Item \w+/#, with: "Order Placed") + order + "}"
        }
        return try write("nested.ndjson", count: count, of: orders)
    }

    /// Splits an event's line into the envelope and the payload.
    private static func split(_ line: String) -> (envelope: Substring, payload: Substring) {
        guard let key = line.firstRange(of: #""payload":"#) else { return (line[...], "") }
        return (line[..<key.upperBound], line[key.upperBound...].dropLast())
    }

    private static func reverseKeys(of line: String) -> String {
        func members(_ text: Substring) -> [Substring] {
            text.matches(of: /"\w+":(?:"(?:[^"\\]|\\.)*"|[0-9.]+)/).map(\.output).reversed()
        }
        let (envelope, payload) = split(line)
        let first = #""payload":{\#(members(payload).joined(separator: ","))}"#
        return "{" + ([first] + members(envelope).map(String.init)).joined(separator: ",") + "}"
    }

    /// Writes the lines repeatedly, each time a day later, so that the times increase as in real data.
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

    /// The date that is `offset` days after 1 December 2010, as `2010-12-01`.
    private static func date(_ offset: Int) -> String {
        let start = Date(timeIntervalSince1970: 1_291_161_600)
        return start.addingTimeInterval(Double(offset) * 86400).formatted(.iso8601.year().month().day())
    }
}
