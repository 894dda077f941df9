/// Escapes text for GitHub's Markdown, so that it is displayed literally.
enum MarkdownText {
    /// The text of a paragraph or of a table's cell, on one line.
    static func words(_ text: String) -> String {
        escapingStart(of: escaped(text.trimmingSpace[...]))
    }

    /// The text on one line, in which URLs become links.
    ///
    /// URLs are written in angle brackets, where GitHub interprets only HTML entities; elsewhere it would make the escapes part
    /// of the URL.
    static func prose(_ text: String) -> String {
        let address = /https?:\/\/[\p{L}\p{N}\[][^\s\p{Cc}<>|`\\"]*/.ignoresCase().matchingSemantics(.unicodeScalar)
        var result = ""
        var rest = text.trimmingSpace[...]
        while let found = rest.firstMatch(of: address) {
            let link = withoutPunctuation(found.output)
            result += escaped(rest[..<link.startIndex]) + "<\(link.replacing(/&(?=#?\w+;)/, with: "&amp;"))>"
            rest = rest[link.endIndex...]
        }
        return escapingStart(of: result + escaped(rest))
    }

    /// A URL without the trailing punctuation that belongs to the surrounding sentence.
    private static func withoutPunctuation(_ address: Substring) -> Substring {
        var scalars = address.unicodeScalars
        while let last = scalars.last {
            let isClosing = last == ")" && scalars.count { $0 == ")" } > scalars.count { $0 == "(" }
            guard isClosing || ".,:;!?'*_~]".unicodeScalars.contains(last) else { break }
            scalars.removeLast()
        }
        return Substring(scalars)
    }

    private static func escaped(_ text: Substring) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\\", "`", "*", "_", "[", "]", "|", "~", "#", "$": result += "\\" + String(Character(scalar))
            case "\n": result += "<br>"
            case _ where scalar.properties.generalCategory == .control: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A value, formatted as code.
    ///
    /// Markdown has no escapes in code spans, so some values need the HTML element.
    static func code(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar != "`" && scalar != "|" && scalar.properties.generalCategory != .control
        }
        let ends = [text.unicodeScalars.first, text.unicodeScalars.last].compactMap(\.self)
        if isPlain, !ends.isEmpty, !ends.contains(where: { $0.properties.isWhitespace }) { return "`\(text)`" }
        return "<code>" + text.unicodeScalars.map(character).joined() + "</code>"
    }

    /// A character in an HTML element, in which Markdown still interprets its own syntax.
    private static func character(_ scalar: Unicode.Scalar) -> String {
        let isSign = scalar.isASCII && !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
        return isSign && scalar != " " ? "&#\(scalar.value);" : String(Character(scalar))
    }

    /// Escapes the beginning of a text that would start a list or a numbered item, or underline a heading.
    private static func escapingStart(of text: String) -> String {
        guard let first = text.unicodeScalars.first else { return text }
        if "-+=:".unicodeScalars.contains(first) { return "\\" + text }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(digits.count)
        guard !digits.isEmpty, rest.hasPrefix(".") || rest.hasPrefix(")") else { return text }
        return digits + "\\" + rest
    }
}

extension String {
    fileprivate var trimmingSpace: String {
        let start = unicodeScalars.drop { $0.properties.isWhitespace }
        let end = start.reversed().drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(end.reversed()))
    }
}
