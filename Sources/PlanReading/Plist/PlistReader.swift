import EventSchema

/// The first stage: the bytes of one file become nodes that know their places.
enum PlistReader {
    /// Far more than any plan needs, and little enough to keep in memory.
    static let maximumBytes = 16 << 20
    /// Limits the size of the tree; a binary file can refer to one object many times.
    static let maximumNodes = 200_000
    /// Limits every recursion over the tree.
    static let maximumDepth = 64

    /// Reads an XML or a binary property list; the node is `nil` if nothing could be read.
    static func read(_ bytes: [UInt8], file: String) -> (root: PlistNode?, diagnostics: [Diagnostic]) {
        let start = PlanLocation(file: file, line: 1, column: 1)
        if bytes.count > maximumBytes {
            let sentence = "the file is larger than \(maximumBytes >> 20) MiB; split the plan into several files"
            return (nil, [Diagnostic(.fileTooLarge, at: start, sentence)])
        }
        if bytes.starts(with: "bplist".utf8) {
            return BinaryPlistReader.read(bytes, file: file)
        }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? bytes[3...] : bytes[...]
        let isMarkup = text.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<") && !text.contains(0)
        guard isMarkup else {
            let sentence = "not a property list; it must be an XML plist in UTF-8, or a binary one"
            return (nil, [Diagnostic(.malformedPlist, at: start, sentence)])
        }
        guard XMLDeclaration.permitsUTF8(text) else {
            let sentence = "not a property list in UTF-8; save it in that encoding, and say so in its first line"
            return (nil, [Diagnostic(.malformedPlist, at: start, sentence)])
        }
        return XMLPlistReader.read(Array(text), file: file)
    }
}

/// The declaration at the beginning of an XML document: `<?xml version="1.0" encoding="UTF-8"?>`.
enum XMLDeclaration {
    /// More than any declaration needs.
    private static let maximumBytes = 1024

    /// Whether the document declares no encoding other than UTF-8.
    ///
    /// This must be checked before the document is parsed: libxml2 crashes on an encoding that it does not know.
    static func permitsUTF8(_ document: ArraySlice<UInt8>) -> Bool {
        guard document.starts(with: "<?xml".utf8) else { return true }
        let declaration = document.prefix { $0 != UInt8(ascii: ">") }
        guard declaration.count <= maximumBytes else { return false }
        let words = declaration.split { !isPartOfWord($0) }.map { String(decoding: $0, as: UTF8.self) }
        guard let encoding = words.firstIndex(of: "encoding") else { return true }
        return words[(encoding + 1)...].first?.lowercased() == "utf-8"
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): false
        case UInt8(ascii: "="), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "?"): false
        default: true
        }
    }
}
