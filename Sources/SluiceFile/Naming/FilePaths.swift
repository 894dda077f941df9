/// What a file will be called once it is complete.
package struct FileTarget: Sendable, Hashable {
    /// The names of the folders below the one that everything is in.
    package let folders: [String]
    /// The file's name up to the place of a number.
    let stem: String
    /// The rest of the name, such as `.ndjson.gz`.
    let suffix: String

    /// The name of the file with this number, from 1 on; the first one has no number.
    package func name(_ number: Int) -> String {
        number == 1 ? stem + suffix : "\(stem)\(NamePart.mark)\(number)\(suffix)"
    }

    /// The same file for contents that are compressed or not.
    func matching(isCompressed: Bool) -> FileTarget {
        if isCompressed == suffix.hasSuffix(".gz") { return self }
        return FileTarget(
            folders: folders,
            stem: stem,
            suffix: isCompressed ? suffix + ".gz" : String(suffix.dropLast(3))
        )
    }
}

/// The names of a tracker's files.
package struct FilePaths: Sendable {
    /// What the names of files end with until they are complete.
    private static let unfinishedSuffix = ".partial"
    private static let maximumTrackerBytes = 100

    package let template: PathTemplate
    let pathTime: FileConfiguration.PathTime
    private let node: String
    /// What the names of this tracker's unfinished files begin with.
    private let unfinishedPrefix: String

    /// Takes the path of a configuration apart.
    package init(_ configuration: FileConfiguration) throws(PathTemplate.Problem) {
        template = try PathTemplate(configuration.path)
        pathTime = configuration.pathTime
        node = NamePart.encoded(
            configuration.node ?? FileConfiguration.hostName,
            maximumBytes: PathTemplate.maximumNodeBytes
        )
        let tracker = NamePart.encoded(configuration.name, maximumBytes: Self.maximumTrackerBytes)
        // No other tracker's and no other node's prefix begins with this one, because '@' is in no encoded name.
        unfinishedPrefix = "\(tracker)@\(node)@"
    }

    /// The file for an event with this name and time; the first `template.timeLength` characters of the time (RFC 3339) are enough.
    package func target(event: String, time: String) -> FileTarget {
        let event = NamePart.encoded(event, maximumBytes: template.maximumEventBytes)
        let time = Array(time.utf8)
        func text(_ piece: PathTemplate.Piece) -> String {
            switch piece {
            case .text(let text): text
            case .event: event
            case .node: node
            case .time(let range): String(decoding: time[range.clamped(to: time.indices)], as: UTF8.self)
            }
        }
        func text(_ pieces: some Sequence<PathTemplate.Piece>) -> String { pieces.map(text).joined() }
        let folders = template.folders.map { text($0) }
        guard case .text(let end)? = template.file.last, let dot = end.firstIndex(of: ".") else {
            return FileTarget(folders: folders, stem: text(template.file), suffix: "")
        }
        return FileTarget(
            folders: folders,
            stem: text(template.file.dropLast()) + end[..<dot],
            suffix: String(end[dot...])
        )
    }

    /// A name for a new file until it is complete.
    func unfinishedName() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return unfinishedPrefix + String(repeating: "0", count: 16 - digits.count) + digits + Self.unfinishedSuffix
    }

    /// Whether a name is that of an unfinished file of this tracker on this node.
    func isUnfinished(_ name: String) -> Bool {
        name.hasPrefix(unfinishedPrefix) && name.hasSuffix(Self.unfinishedSuffix)
    }
}
