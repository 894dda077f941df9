/// The formatting of a dictionary's entries in a file.
struct PlistLayout {
    /// The end of a line; `nil` if everything is on one line.
    var newline: String?
    /// The indentation of the dictionary's entries.
    var indent: String
    /// The indentation that each level adds.
    var unit: String
    /// Whether empty lines separate the entries.
    var hasEmptyLines = false
    /// The white space between a key and a string; `nil` for a new line.
    var stringGap: String?
    /// The white space between a key and an array; `nil` for a new line.
    var arrayGap: String?
    /// The white space between a key and a dictionary; `nil` for a new line.
    var dictionaryGap: String?
    /// Whether an array is on one line.
    var hasArraysInOneLine = false

    /// The gap between a key and its value.
    func gap(_ gap: String?, _ indent: String) -> String {
        gap ?? newline.map { $0 + indent } ?? ""
    }

    /// Derives the formatting from a dictionary and from the last entry that is a dictionary itself.
    ///
    /// `root` is the indentation of the line with the file's root, and `outer` that of the line with the dictionary's own key, or
    /// `root` if the dictionary is the root.
    init(of dictionary: MarkupRange, in text: PlanText, outer: String, root: String) {
        newline = text.newline
        let sibling = dictionary.entries.last { text.isElement("dict", $0.value) && !$0.value.children.isEmpty }
        let anchor = sibling ?? dictionary.entries.last
        let indent = anchor.flatMap { text.indent(at: $0.key.startTag.lowerBound) }
        let level = outer.hasPrefix(root) ? String(outer.dropFirst(root.count)) : ""
        unit = level.isEmpty ? "    " : level
        self.indent = indent ?? outer + unit
        guard let anchor else { return }
        if let indent {
            if indent.hasPrefix(outer), indent != outer { unit = String(indent.dropFirst(outer.count)) }
        } else {
            newline = nil
        }
        dictionaryGap = text.gap(anchor.key, anchor.value)
        look(at: sibling?.value ?? dictionary, in: text)
        guard let before = dictionary.entries.dropLast().last, let last = dictionary.entries.last else { return }
        hasEmptyLines = text.hasEmptyLine(between: before.value.whole.upperBound, and: last.key.startTag.lowerBound)
    }

    /// Adopts the formatting of an event's fields.
    private mutating func look(at event: MarkupRange, in text: PlanText) {
        if let field = event.entries.first, let inner = text.indent(at: field.key.startTag.lowerBound),
            inner.hasPrefix(indent), inner != indent
        {
            unit = String(inner.dropFirst(indent.count))
        }
        let strings = event.entries.first { text.isElement("string", $0.value) }
        let arrays = event.entries.first { text.isElement("array", $0.value) && !$0.value.children.isEmpty }
        stringGap = (strings ?? arrays).flatMap { text.gap($0.key, $0.value) }
        arrayGap = (arrays ?? strings).flatMap { text.gap($0.key, $0.value) }
        if let first = arrays?.value.children.first {
            hasArraysInOneLine = text.indent(at: first.startTag.lowerBound) == nil
        }
    }
}
