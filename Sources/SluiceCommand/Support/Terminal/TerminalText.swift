import EventModel

/// Text without control sequences; commands print nothing else.
///
/// Literals are taken unchanged. Interpolated values, such as `name` in `"\(name): no such event"`, may come from input and
/// are escaped, line feeds included, so that they can neither move the cursor nor imitate a line of the command.
///
/// `TerminalEscapes` has the rules.
struct TerminalText: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringInterpolation {
    private(set) var description: String

    /// Creates a text from a literal, unchanged.
    init(stringLiteral literal: String) {
        description = literal
    }

    init(stringInterpolation interpolation: StringInterpolation) {
        description = interpolation.text
    }

    /// Escapes text from input, line feeds included.
    init(escaping text: String) {
        self.init(escaping: text, keepingLines: false)
    }

    /// Escapes text from input except its line feeds and tabs, as for JSON or SQL.
    init(escapingLinesOf text: String) {
        self.init(escaping: text, keepingLines: true)
    }

    private init(escaping text: String, keepingLines: Bool) {
        var bytes: [UInt8] = []
        TerminalEscapes.append(text.utf8, keepingLines: keepingLines, to: &bytes)
        description = String(decoding: bytes, as: UTF8.self)
    }

    /// Concatenates two texts.
    static func + (first: TerminalText, second: TerminalText) -> TerminalText {
        "\(first)\(second)"
    }

    /// Assembles a text from an interpolated literal.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text: String

        init(literalCapacity: Int, interpolationCount: Int) {
            text = ""
            text.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Appends a text that is already escaped.
        mutating func appendInterpolation(_ value: TerminalText) {
            text += value.description
        }

        /// Escapes and appends a value.
        mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += TerminalText(escaping: value.description).description
        }

        /// Escapes and appends an error.
        mutating func appendInterpolation(_ error: any Error) {
            text += TerminalText(escaping: "\(error)").description
        }
    }
}

extension Sequence<TerminalText> {
    /// Concatenates the texts, with a separator between them.
    func joined(separator: TerminalText) -> TerminalText {
        var result: TerminalText = ""
        for (position, text) in enumerated() { result = position == 0 ? text : result + separator + text }
        return result
    }
}
