/// A piece of HTML, into which text comes only with its signs escaped.
///
/// Written as a literal; what is interpolated is escaped, unless it is a piece of HTML itself.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    init(stringInterpolation pieces: StringInterpolation) {
        text = pieces.text
    }

    /// Pieces below each other.
    init(_ pieces: [HTML]) {
        text = pieces.map(\.text).joined(separator: "\n")
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity * 2)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }
        mutating func appendInterpolation(_ pieces: [HTML]) { text += HTML(pieces).text }
        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        mutating func appendInterpolation(_ words: String) {
            for scalar in words.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                case "\n", "\t": text.unicodeScalars.append(scalar)
                // HTML has no other control characters, not even escaped.
                case _ where scalar.properties.generalCategory == .control: text += "\u{FFFD}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
