import EventSchema

/// The second stage: converts the nodes of one file to definitions, and reports all problems within the file.
struct FileInterpreter {
    private(set) var diagnostics: [Diagnostic] = []
    /// The trackers that the file lists in `sensitive`.
    var sensitiveTrackers: [PlacedText] = []

    /// Interprets a file; the result leaves out as little as possible of what is wrong.
    static func interpret(_ root: PlistNode) -> (file: PlanFile, diagnostics: [Diagnostic]) {
        var interpreter = FileInterpreter()
        let file = interpreter.file(root)
        return (file, interpreter.diagnostics)
    }

    mutating func report(_ code: DiagnosticCode, at place: PlistPlace, _ sentence: String) {
        diagnostics.append(Diagnostic(code, at: place, sentence))
    }

    // MARK: Nodes by kind

    /// The entries of a dictionary; reports keys that are not in `known`.
    mutating func fields(
        _ node: PlistNode,
        of thing: String,
        at place: PlistPlace,
        known: [String]
    ) -> Fields? {
        guard let entries = dictionary(node, as: thing) else { return nil }
        for entry in entries where !known.contains(entry.key.text) {
            let hint = Spelling.hint(for: entry.key.text, among: known, listedAs: "\(thing) has")
            report(.unknownKey, at: entry.key.place, "unknown key \(quoted(entry.key.text)) in \(thing); \(hint)")
        }
        return Fields(entries, place: place)
    }

    mutating func dictionary(_ node: PlistNode, as thing: String) -> [PlistEntry]? {
        if case .dictionary(let entries) = node.value { return entries }
        reportKind(of: node, thing, expected: "a dictionary")
        return nil
    }

    mutating func array(_ node: PlistNode, as thing: String) -> [PlistNode]? {
        if case .array(let nodes) = node.value { return nodes }
        reportKind(of: node, thing, expected: "an array")
        return nil
    }

    mutating func text(_ node: PlistNode, as thing: String) -> PlacedText? {
        if case .string(let text) = node.value { return PlacedText(text: text, place: node.place) }
        reportKind(of: node, thing, expected: "a string")
        return nil
    }

    mutating func text(_ entry: PlistEntry?) -> PlacedText? {
        entry.flatMap { text($0.value, as: quoted($0.key.text)) }
    }

    mutating func boolean(_ entry: PlistEntry?, default defaultValue: Bool) -> Bool {
        guard let entry else { return defaultValue }
        if case .boolean(let boolean) = entry.value.value { return boolean }
        reportKind(of: entry.value, quoted(entry.key.text), expected: "<true/> or <false/>")
        return defaultValue
    }

    /// A list of names such as `registeredTrackers`, without repetitions.
    mutating func names(_ entry: PlistEntry?, ignoringCase: Bool) -> [PlacedText]? {
        guard let entry, let nodes = array(entry.value, as: quoted(entry.key.text)) else { return nil }
        var names: [PlacedText] = []
        var known: Set<String> = []
        for node in nodes {
            guard let name = text(node, as: "a name in \(quoted(entry.key.text))"), check(name) else { continue }
            if known.insert(ignoringCase ? name.text.lowercased() : name.text).inserted {
                names.append(name)
            } else {
                report(.repeatedEntry, at: name.place, "\(quoted(name.text)) is already in this list; remove it")
            }
        }
        return names
    }

    mutating func reportKind(of node: PlistNode, _ thing: String, expected: String) {
        guard node.value != .unreadable else { return }
        report(.wrongNodeType, at: node.place, "\(thing) must be \(expected), not \(node.value.kind)")
    }

    // MARK: Names

    /// Reports a name that cannot be used or distinguished from another.
    @discardableResult
    mutating func check(_ name: PlacedText) -> Bool {
        guard let complaint = Self.complaint(about: name.text) else { return true }
        report(.badName, at: name.place, "the name \(quoted(name.text)) \(complaint)")
        return false
    }

    private static func complaint(about name: String) -> String? {
        let scalars = name.unicodeScalars
        if scalars.isEmpty { return "is empty" }
        if name.utf8.count > 255 { return "is longer than 255 bytes" }
        if scalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "contains a control character"
        }
        let ends = [scalars.first, scalars.last].compactMap { $0 }
        return ends.contains { $0.properties.isWhitespace } ? "begins or ends with white space" : nil
    }
}

/// The entries of a dictionary by their keys.
struct Fields {
    /// The place for problems of the dictionary itself.
    let place: PlistPlace
    private let entries: [String: PlistEntry]

    init(_ entries: [PlistEntry], place: PlistPlace) {
        self.place = place
        self.entries = Dictionary(entries.map { ($0.key.text, $0) }) { first, _ in first }
    }

    subscript(key: String) -> PlistEntry? { entries[key] }
}
