/// A fragment of HTML, written as a literal.
///
/// Interpolated text is escaped; an interpolated fragment is not.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    init(stringInterpolation interpolation: StringInterpolation) {
        text = interpolation.text
    }

    /// Joins fragments with newlines.
    init(_ fragments: [HTML]) {
        text = fragments.map(\.text).joined(separator: "\n")
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity * 2)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ fragment: HTML) { text += fragment.text }
        mutating func appendInterpolation(_ fragments: [HTML]) { text += HTML(fragments).text }
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
                // HTML allows no other control characters, not even escaped.
                case _ where scalar.properties.generalCategory == .control: text += "\u{FFFD}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
