/// The declaration that may stand at the very beginning of an XML document: `<?xml version="1.0" encoding="UTF-8"?>`.
enum XMLDeclaration {
    /// More than any declaration takes.
    private static let maximumBytes = 1024

    /// Whether a document that begins so is in UTF-8: it has no declaration, or one that names no other encoding.
    ///
    /// To be asked before the parser sees the document: libxml2 crashes on an encoding that it does not know.
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
