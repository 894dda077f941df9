/// Finds the places of the start tags of a well-formed XML document, one after the other.
///
/// An event-driven parser reports the position after a tag, not where the tag begins, and its columns are not bytes.
/// Therefore the scanner runs alongside the parser and finds the next start tag each time the parser reports one. It
/// recognises only what can hide a `<`: comments, processing instructions, CDATA and the document type. The parser
/// decides whether the document is well-formed.
struct StartTagScanner {
    /// A place in the bytes.
    struct Position: Hashable {
        /// Counted from 0.
        var offset = 0
        /// Counted from 1.
        var line = 1
        /// In bytes, counted from 1.
        var column = 1
    }

    /// The maximum size of a tag; a property list has no attributes but the version.
    static let maximumTagBytes = 1024

    private let bytes: [UInt8]
    private var position = Position()
    /// Where the document type opens an internal subset; `nil` when none has been passed.
    private(set) var internalSubset: Position?
    /// Where the first processing instruction begins, the XML declaration not counted; `nil` when none has been passed.
    private(set) var processingInstruction: Position?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether the tag at a place is longer than a tag may be; a `>` within quotation marks does not end it.
    func hasLongTag(at place: Position) -> Bool {
        let start = bytes[place.offset...].prefix(Self.maximumTagBytes)
        var quotationMark: UInt8?
        for byte in start {
            switch (byte, quotationMark) {
            case (UInt8(ascii: ">"), nil): return false
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quotationMark = byte
            case (_, byte): quotationMark = nil
            default: break
            }
        }
        return start.count == Self.maximumTagBytes
    }

    /// The place of the `<` of the next start tag with this name; `nil` when the next one has another name, or is missing.
    mutating func next(named name: String) -> Position? {
        guard let start = next() else { return nil }
        let nameStart = start.offset + 1
        return bytes[nameStart...].starts(with: name.utf8) ? start : nil
    }

    /// The place of the `<` of the next start tag.
    mutating func next() -> Position? {
        while let tag = nextTag() {
            if !tag.isEnd { return tag.position }
        }
        return nil
    }

    /// The place of the `<` of the next start tag or end tag.
    mutating func nextTag() -> (position: Position, isEnd: Bool)? {
        while skipToMarkup() {
            if isAt("<!--") {
                skip(past: "-->", from: 4)
            } else if isAt("<![CDATA[") {
                skip(past: "]]>", from: 9)
            } else if isAt("<?") {
                if !isAtDeclaration { processingInstruction = processingInstruction ?? position }
                skip(past: "?>", from: 2)
            } else if isAt("<!") {
                skipDocumentType()
            } else {
                let isEnd = isAt("</")
                defer { advance(by: isEnd ? 2 : 1) }
                return (position, isEnd)
            }
        }
        return nil
    }

    private var isAtDeclaration: Bool {
        guard position.offset == 0, isAt("<?xml"), bytes.count > 5 else { return false }
        return [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(bytes[5])
    }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position.offset...].starts(with: $0) }
    }

    private mutating func skipToMarkup() -> Bool {
        while position.offset < bytes.count {
            if bytes[position.offset] == UInt8(ascii: "<") { return true }
            advance(by: 1)
        }
        return false
    }

    private mutating func skip(past text: StaticString, from start: Int) {
        advance(by: start)
        while position.offset < bytes.count, !isAt(text) { advance(by: 1) }
        advance(by: text.utf8CodeUnitCount)
    }

    /// Skips `<!DOCTYPE …>` without an internal subset; a `>` within quotation marks does not end it.
    private mutating func skipDocumentType() {
        var quotationMark: UInt8?
        while position.offset < bytes.count {
            let byte = bytes[position.offset]
            switch (byte, quotationMark) {
            case (UInt8(ascii: ">"), nil): return advance(by: 1)
            case (UInt8(ascii: "["), nil): internalSubset = internalSubset ?? position
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quotationMark = byte
            case (_, byte): quotationMark = nil
            default: break
            }
            advance(by: 1)
        }
    }

    private mutating func advance(by count: Int) {
        for _ in 0..<count where position.offset < bytes.count {
            let byte = bytes[position.offset]
            let isFollowedByLineFeed =
                position.offset + 1 < bytes.count && bytes[position.offset + 1] == UInt8(ascii: "\n")
            let endsLine = byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && !isFollowedByLineFeed)
            position.offset += 1
            position.line += endsLine ? 1 : 0
            position.column = endsLine ? 1 : position.column + 1
        }
    }
}
