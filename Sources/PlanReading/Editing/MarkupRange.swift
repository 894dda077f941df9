/// The range of an element in the bytes of a well-formed document, with its children.
struct MarkupRange {
    /// From `<` to after `>`.
    var startTag: Range<Int>
    /// Empty, at the end of the start tag, if the element is written as `<name/>`.
    var endTag: Range<Int>
    var children: [MarkupRange] = []

    /// Whether it is written as `<name/>`.
    var isSelfClosing: Bool { endTag.isEmpty }
    /// The whole element, with its tags.
    var whole: Range<Int> { startTag.lowerBound..<endTag.upperBound }
    /// The range between the tags.
    var inside: Range<Int> { startTag.upperBound..<endTag.lowerBound }

    /// The keys of a `<dict>`, each with its value.
    var entries: [(key: MarkupRange, value: MarkupRange)] {
        stride(from: 0, to: children.count - 1, by: 2).map { (children[$0], children[$0 + 1]) }
    }

    /// Finds the root element; `nil` if the document has none.
    ///
    /// The document must have been parsed before: it must be well-formed and within the limits of `PlistReader`.
    static func root(of bytes: [UInt8]) -> MarkupRange? {
        var scanner = StartTagScanner(bytes)
        var open: [MarkupRange] = []
        while let tag = scanner.nextTag() {
            let range = tag.position.offset..<end(ofTagAt: tag.position.offset, in: bytes)
            let isSelfClosing = !tag.isEnd && bytes[range].dropLast().last == UInt8(ascii: "/")
            if !tag.isEnd {
                open.append(MarkupRange(startTag: range, endTag: range.upperBound..<range.upperBound))
                if !isSelfClosing { continue }
            }
            guard var element = open.popLast() else { return nil }
            if tag.isEnd { element.endTag = range }
            if open.isEmpty { return element }
            open[open.count - 1].children.append(element)
        }
        return nil
    }

    /// The position after the `>` that ends a tag; one within quotation marks belongs to an attribute.
    private static func end(ofTagAt start: Int, in bytes: [UInt8]) -> Int {
        var quotationMark: UInt8?
        for index in start..<bytes.count {
            switch (bytes[index], quotationMark) {
            case (UInt8(ascii: ">"), nil): return index + 1
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quotationMark = bytes[index]
            case (let byte, quotationMark): if byte == quotationMark { quotationMark = nil }
            default: break
            }
        }
        return bytes.count
    }
}
