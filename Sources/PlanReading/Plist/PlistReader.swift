import EventSchema

/// The first stage: the bytes of one file become nodes that know their places.
enum PlistReader {
    /// Far more than any plan needs, and little enough to hold in memory.
    static let maximumBytes = 16 << 20
    /// Bounds the tree whatever the bytes; a binary file can name one object many times over.
    static let maximumNodes = 200_000
    /// Bounds every recursion over the tree.
    static let maximumDepth = 64

    /// Reads an XML or a binary property list; the node is `nil` when there is nothing to go on with.
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
