/// Adds an event to a plan file as a person would: all existing bytes stay, and the new event is formatted like the events
/// around it.
package struct EventInsertion: Sendable, Hashable {
    /// The event's key, and its name on the wire.
    package var key: String
    /// What the event means.
    package var description: String?
    /// The team that is responsible for the event.
    package var owner: String?
    /// The trackers that receive it.
    package var trackers: [String]

    /// Makes an insertion of an event with an empty payload.
    package init(key: String, description: String? = nil, owner: String? = nil, trackers: [String]) {
        self.key = key
        self.description = description
        self.owner = owner
        self.trackers = trackers
    }

    /// The file with the event after its last event.
    ///
    /// It does not check whether the plan is still valid; read it again for that.
    ///
    /// - Throws: `PlanEditError` if the file is a binary property list, or cannot be read.
    package func applied(to source: PlanSource) throws(PlanEditError) -> PlanSource {
        if source.bytes.starts(with: "bplist".utf8) {
            throw PlanEditError("a binary property list has no layout to keep; convert it: plutil -convert xml1")
        }
        let (node, diagnostics) = PlistReader.read(source.bytes, file: source.file)
        guard let node, diagnostics.isEmpty, case .dictionary(let entries) = node.value,
            let plist = MarkupRange.root(of: source.bytes), let dictionary = plist.children.first,
            dictionary.entries.count == entries.count
        else { throw Self.problems }
        let text = PlanText(bytes: source.bytes)
        let root = text.lineIndent(at: dictionary.startTag.lowerBound)
        let bytes: [UInt8]
        if let index = entries.firstIndex(where: { $0.key.text == "events" }) {
            guard case .dictionary = entries[index].value.value else { throw Self.problems }
            let (name, events) = dictionary.entries[index]
            let outer = text.lineIndent(at: name.startTag.lowerBound)
            let layout = PlistLayout(of: events, in: text, outer: outer, root: root)
            bytes = Self.adding(key, outline, to: events, in: text, layout, outer: outer)
        } else {
            let events = PlistOutline.dictionary([PlistOutlineEntry(key: key, value: outline)])
            let layout = PlistLayout(of: dictionary, in: text, outer: root, root: root)
            bytes = Self.adding("events", events, to: dictionary, in: text, layout, outer: root)
        }
        return PlanSource(file: source.file, bytes: bytes)
    }

    private static let problems = PlanEditError("the file has problems; run `sluice lint` to list them")

    private var outline: PlistOutline {
        var entries: [PlistOutlineEntry] = []
        func add(_ key: String, _ value: PlistOutline) { entries.append(PlistOutlineEntry(key: key, value: value)) }
        if let description { add("description", .string(description)) }
        if let owner { add("owner", .string(owner)) }
        add("registeredTrackers", .strings(trackers))
        add("payload", .dictionary([]))
        return .dictionary(entries)
    }

    /// Adds an entry at the end of a dictionary.
    private static func adding(
        _ key: String,
        _ value: PlistOutline,
        to dictionary: MarkupRange,
        in text: PlanText,
        _ layout: PlistLayout,
        outer: String
    ) -> [UInt8] {
        let entry = PlistWriter(layout: layout).entry(key, value, indent: layout.indent)
        let newline = layout.newline ?? ""
        let closing = layout.newline.map { $0 + outer } ?? ""
        let beginning = newline + (layout.newline == nil ? "" : layout.indent)
        if dictionary.isSelfClosing {
            return text.replacing(dictionary.whole, with: "<dict>\(beginning)\(entry)\(closing)</dict>")
        }
        let place = text.endOfContent(in: dictionary.inside)
        let isClosedInLine = !text.hasNewline(in: place..<dictionary.inside.upperBound)
        return text.replacing(
            place..<place,
            with: (layout.hasEmptyLines ? newline : "") + beginning + entry + (isClosedInLine ? closing : "")
        )
    }
}

/// The reason for which a plan file cannot be edited.
package struct PlanEditError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of the problem; there is only one kind.
    package var code: String { "not-editable" }

    /// The reason, and what to do, as a sentence.
    package let description: String

    /// Always false: editing the same file fails again.
    package var isRetryable: Bool { false }

    init(_ description: String) {
        self.description = description
    }
}
