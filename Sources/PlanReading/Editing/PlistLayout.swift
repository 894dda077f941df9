/// How the entries of a dictionary are laid out in a file, as far as they show it.
struct PlistLayout {
    /// What ends a line; `nil` where everything stands in one.
    var newline: String?
    /// What the lines of the dictionary's entries begin with.
    var indent: String
    /// What each level adds to that.
    var unit: String
    /// Whether an empty line parts the entries.
    var hasEmptyLines = false
    /// What stands between a key and a string; `nil` where that is a new line.
    var stringGap: String?
    /// What stands between a key and an array; `nil` where that is a new line.
    var arrayGap: String?
    /// What stands between a key and a dictionary; `nil` where that is a new line.
    var dictionaryGap: String?
    /// Whether an array's elements stand beside each other.
    var hasArraysInOneLine = false

    /// The gap between a key and its value.
    func gap(_ gap: String?, _ indent: String) -> String {
        gap ?? newline.map { $0 + indent } ?? ""
    }

    /// Looks at a dictionary, and at the last of its entries that is one itself.
    ///
    /// - Parameters:
    ///   - outer: What the line begins with on which the dictionary's own key stands.
    ///   - root: What the line begins with on which the file's root stands.
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

    /// Takes over how the fields of an event are written.
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
