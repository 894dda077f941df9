/// A token of Swift code.
enum SwiftToken: Equatable {
    /// A keyword or an identifier, without backticks.
    case word(String)
    /// Any other character, one byte of it.
    case mark(UInt8)

    static func mark(_ character: Unicode.Scalar) -> SwiftToken { .mark(UInt8(ascii: character)) }
}

/// Splits Swift code into tokens, without comments and the text of strings; interpolations in strings are code.
///
/// A regular expression between plain slashes is taken for code; a quotation mark in one hides the rest of its line.
struct SwiftTokens {
    /// What the current position is in; contexts are nested.
    private enum Context {
        /// Code, with the number of open parentheses.
        case code(parentheses: Int)
        case string(hashes: Int, isMultiline: Bool)
    }

    private let text: [UInt8]
    private var position = 0
    private var contexts: [Context] = [.code(parentheses: 0)]
    private var tokens: [SwiftToken] = []

    /// The tokens of a text.
    static func tokens(of text: [UInt8]) -> [SwiftToken] {
        var reader = SwiftTokens(text: text)
        while reader.position < text.count { reader.step() }
        return reader.tokens
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func step() {
        switch contexts[contexts.count - 1] {
        case .code(let parentheses): stepInCode(parentheses)
        case .string(let hashes, let isMultiline): stepInString(hashes, isMultiline)
        }
    }

    // MARK: Code

    private mutating func stepInCode(_ parentheses: Int) {
        let byte = text[position]
        if isAt("//") {
            position =
                text[position...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? text.count
        } else if isAt("/*") {
            skipComment()
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") {
            openLiteral()
        } else if Self.beginsWord(byte) {
            let end = text[position...].firstIndex { !Self.isPartOfWord($0) } ?? text.count
            tokens.append(.word(String(decoding: text[position..<end], as: UTF8.self)))
            position = end
        } else {
            position += 1
            if byte == UInt8(ascii: "`") || Self.isSpace(byte) { return }
            tokens.append(.mark(byte))
            count(byte, parentheses)
        }
    }

    /// Counts parentheses, and returns to the string when the one that began an interpolation is closed.
    private mutating func count(_ byte: UInt8, _ parentheses: Int) {
        if byte == UInt8(ascii: "(") {
            contexts[contexts.count - 1] = .code(parentheses: parentheses + 1)
        } else if byte == UInt8(ascii: ")") {
            if parentheses == 0, contexts.count > 1 {
                contexts.removeLast()
            } else {
                contexts[contexts.count - 1] = .code(parentheses: max(0, parentheses - 1))
            }
        }
    }

    /// Skips a comment, in which others may be nested.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if isAt("/*") {
                depth += 1
                position += 2
            } else if isAt("*/") {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && position < text.count
    }

    // MARK: Literals

    /// Reads the beginning of a string, or a regular expression with hashes; hashes that begin neither become one mark.
    private mutating func openLiteral() {
        let hashes = text[position...].prefix { $0 == UInt8(ascii: "#") }.count
        let start = position + hashes
        let quotes = text[start...].prefix(3) { $0 == UInt8(ascii: "\"") }
        if hashes > 0, start < text.count, text[start] == UInt8(ascii: "/") {
            skipExpression(from: start + 1, hashes)
        } else if quotes > 0 {
            let isMultiline = quotes == 3
            contexts.append(.string(hashes: hashes, isMultiline: isMultiline))
            position = start + (isMultiline ? 3 : 1)
        } else {
            position = start
            tokens.append(.mark("#"))
        }
    }

    private mutating func skipExpression(from start: Int, _ hashes: Int) {
        position = start
        while position < text.count {
            let isEnd = text[position] == UInt8(ascii: "/") && hasHashes(hashes, at: position + 1)
            position += isEnd ? 1 + hashes : 1
            if isEnd { return }
        }
    }

    private mutating func stepInString(_ hashes: Int, _ isMultiline: Bool) {
        let byte = text[position]
        if byte == UInt8(ascii: "\\"), hasHashes(hashes, at: position + 1) {
            let escaped = position + 1 + hashes
            let isInterpolation = escaped < text.count && text[escaped] == UInt8(ascii: "(")
            if isInterpolation { contexts.append(.code(parentheses: 0)) }
            position = escaped + 1
        } else if byte == UInt8(ascii: "\""), hasHashes(hashes, at: position + (isMultiline ? 3 : 1)),
            !isMultiline || isAt("\"\"\"")
        {
            position += (isMultiline ? 3 : 1) + hashes
            contexts.removeLast()
        } else {
            // An unclosed string ends with its line, so that a mistake does not hide the rest of the file.
            if !isMultiline, byte == UInt8(ascii: "\n") { contexts.removeLast() }
            position += 1
        }
    }

    // MARK: Bytes

    private func isAt(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { text[position...].starts(with: $0) }
    }

    private func hasHashes(_ count: Int, at start: Int) -> Bool {
        start + count <= text.count && text[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private static func beginsWord(_ byte: UInt8) -> Bool {
        isPartOfWord(byte) && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: " ") }
}

extension ArraySlice<UInt8> {
    /// The number of leading bytes, at most `limit`, that satisfy a predicate.
    fileprivate func prefix(_ limit: Int, while predicate: (UInt8) -> Bool) -> Int {
        prefix(limit).prefix(while: predicate).count
    }
}
