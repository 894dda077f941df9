/// The setting `path`, taken apart: the folder that everything is in, and the names below it with their placeholders.
package struct PathTemplate: Sendable, Hashable {
    /// What is wrong with a path, as a sentence without a full stop.
    package struct Problem: Error, Hashable {
        package let sentence: String
    }

    /// A piece of a name.
    enum Piece: Sendable, Hashable {
        case text(String)
        case event
        case node
        /// A part of a time in RFC 3339.
        case time(Range<Int>)
    }

    /// The folder of the unfinished files, below the root; no event's name begins with a dot.
    static let unfinishedFolder = ".partial"
    /// The maximum length of a name in most file systems.
    static let maximumNameBytes = 255
    /// The room for the number of a file.
    private static let numberBytes = 12
    static let maximumNodeBytes = 63
    private static let maximumEventBytes = 200
    /// The least that has to be left for an event's name: a few letters and the digest.
    private static let minimumEventBytes = 32

    private static let placeholders: KeyValuePairs<String, Piece> = [
        "event": .event, "yyyy": .time(0..<4), "MM": .time(5..<7), "dd": .time(8..<10), "HH": .time(11..<13),
        "node": .node,
    ]

    /// The folder above the first placeholder.
    package let root: String
    /// The names of the folders below it.
    let folders: [[Piece]]
    /// The name of the file.
    let file: [Piece]
    /// How long the name of an event may be.
    let maximumEventBytes: Int

    /// Takes a path apart.
    package init(_ path: String) throws(Problem) {
        guard !path.isEmpty else { throw Problem(sentence: "expected a path") }
        guard !path.utf8.contains(0) else { throw Problem(sentence: "the path has a NUL character") }
        let parts = path.split(separator: "/").filter { $0 != "." }
        guard let last = parts.last, !path.hasSuffix("/"), !path.hasSuffix("/.") else {
            throw Problem(sentence: "the path must end with the name of a file")
        }
        guard !parts.contains("..") else {
            throw Problem(sentence: "the path contains '..'; write the path without it")
        }
        let fixed = parts.dropLast().prefix { !$0.contains("{") && !$0.contains("}") }
        let start = path.hasPrefix("/") ? "/" : ""
        root = fixed.isEmpty ? (start.isEmpty ? "." : start) : start + fixed.joined(separator: "/")
        var folders: [[Piece]] = []
        for part in parts.dropLast().dropFirst(fixed.count) { folders.append(try Self.pieces(of: part)) }
        let file = try Self.pieces(of: last)
        guard (folders.first ?? file) != [.text(Self.unfinishedFolder)] else {
            throw Problem(
                sentence: "'\(Self.unfinishedFolder)' is the folder of the unfinished files; use another name"
            )
        }
        maximumEventBytes = try Self.maximumEventBytes(in: folders + [file])
        self.folders = folders
        self.file = file
    }

    private static func pieces(of part: Substring) throws(Problem) -> [Piece] {
        var pieces: [Piece] = []
        var rest = part
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            if brace > rest.startIndex { pieces.append(.text(String(rest[..<brace]))) }
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else {
                throw Problem(sentence: "a '\(rest[brace])' in the path belongs to no placeholder")
            }
            let name = String(rest[rest.index(after: brace)..<end])
            guard let piece = placeholders.first(where: { $0.key == name })?.value else {
                let known = placeholders.map { "{\($0.key)}" }.joined(separator: ", ")
                throw Problem(sentence: "'{\(name)}' is not a placeholder; those of a path are \(known)")
            }
            pieces.append(piece)
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    private static func maximumEventBytes(in names: [[Piece]]) throws(Problem) -> Int {
        var maximum = maximumEventBytes
        for pieces in names {
            let events = pieces.count { $0 == .event }
            let others = pieces.reduce(0) { sum, piece in
                switch piece {
                case .text(let text): sum + text.utf8.count
                case .event: sum
                case .node: sum + maximumNodeBytes
                case .time(let range): sum + range.count
                }
            }
            let room = maximumNameBytes - numberBytes - others
            guard room >= events * minimumEventBytes else {
                throw Problem(sentence: "a name between two slashes of the path is too long")
            }
            if events > 0 { maximum = min(maximum, room / events) }
        }
        return maximum
    }

    /// The folder that the lowest fixed one is in.
    package var folderAboveRoot: String {
        guard let slash = root.lastIndex(of: "/") else { return "." }
        return slash == root.startIndex ? "/" : String(root[..<slash])
    }

    /// Whether the files are compressed.
    var isCompressed: Bool {
        if case .text(let text)? = file.last { text.hasSuffix(".gz") } else { false }
    }

    /// Whether files of different events can be different ones.
    var dependsOnEvent: Bool { (folders + [file]).contains { $0.contains(.event) } }

    /// How much of a time in RFC 3339 the path depends on, in characters.
    var timeLength: Int {
        (folders + [file]).joined().reduce(0) { length, piece in
            if case .time(let range) = piece { max(length, range.upperBound) } else { length }
        }
    }
}
