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

    /// A documentation comment, each paragraph wrapped; nothing where there are none.
    static func documentation(_ paragraphs: [String?]) -> [String] {
        let paragraphs = paragraphs.compactMap(\.self).map(wrapped).filter { !$0.isEmpty }
        return paragraphs.joined(separator: [""]).map { $0.isEmpty ? "///" : "/// " + $0 }
    }

    /// Lines, each further in by one level.
    static func indented(_ lines: [String]) -> [String] {
        lines.map { $0.isEmpty ? "" : "    " + $0 }
    }

    /// A declaration with its body in braces.
    static func block(_ head: String, _ body: [String]) -> [String] {
        [head + " {"] + indented(body) + ["}"]
    }

    private static let lineLength = 100

    private static func wrapped(_ paragraph: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in paragraph.split(whereSeparator: \.isWhitespace) {
            let visible = String(String.UnicodeScalarView(word.unicodeScalars.filter { !isInvisible($0) }))
            if !line.isEmpty, line.count + 1 + visible.count > lineLength {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? visible : " " + visible
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Whether nobody could see it, or it would change how what follows is read.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .privateUse, .unassigned: true
        default: false
        }
    }
}
