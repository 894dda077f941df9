/// Pieces of Swift as text.
enum SwiftText {
    /// A string literal on one line.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if isInvisible(scalar) {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    /// A list of string literals.
    static func literal(_ texts: [String]) -> String {
        "[" + texts.map { literal($0) }.joined(separator: ", ") + "]"
    }

    /// A documentation comment of texts, which may have paragraphs and lists; empty without texts.
    static func documentation(_ texts: [String?]) -> [String] {
        let paragraphs = texts.compactMap(\.self).flatMap(paragraphs)
        return paragraphs.joined(separator: [""]).map { $0.isEmpty ? "///" : "/// " + $0 }
    }

    /// The lines, indented by one level.
    static func indented(_ lines: [String]) -> [String] {
        lines.map { $0.isEmpty ? "" : "    " + $0 }
    }

    /// A declaration with its body in braces.
    static func block(_ head: String, _ body: [String]) -> [String] {
        body.isEmpty ? [head + " {}"] : [head + " {"] + indented(body) + ["}"]
    }

    private static let lineLength = 100

    /// The paragraphs of a text as wrapped lines; empty lines end them, and an item of a list begins a line.
    private static func paragraphs(of text: String) -> [[String]] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        // Text with code blocks is not wrapped.
        if text.contains("```") { return [lines.map { visible($0.replacing("\t", with: "    ")) }] }
        return lines.split { $0.allSatisfy(\.isWhitespace) }.map { lines in
            var blocks: [String] = []
            for line in lines {
                if let last = blocks.indices.last, !isItem(line) {
                    blocks[last] += " " + line
                } else {
                    blocks.append(String(line))
                }
            }
            return blocks.flatMap { block in
                let lines = wrapped(block)
                return lines.prefix(1) + lines.dropFirst().map { isItem(block[...]) ? "  " + $0 : $0 }
            }
        }.filter { !$0.isEmpty }
    }

    /// Whether a line begins an item of a Markdown list.
    private static func isItem(_ line: Substring) -> Bool {
        line.drop(while: \.isWhitespace).prefixMatch(of: /(?:[-*+]|[0-9]{1,9}[.)])\s/) != nil
    }

    private static func wrapped(_ paragraph: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in paragraph.split(whereSeparator: \.isWhitespace) {
            let word = visible(word)
            if !line.isEmpty, line.count + 1 + word.count > lineLength {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? word : " " + word
        }
        return line.isEmpty ? lines : lines + [line]
    }

    private static func visible(_ text: Substring) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !isInvisible($0) }))
    }

    /// Whether a character is invisible, or changes how the following text is displayed.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .privateUse, .unassigned: true
        default: false
        }
    }
}
