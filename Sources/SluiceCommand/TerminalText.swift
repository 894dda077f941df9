import EventModel

/// Text with nothing in it that a terminal would obey: a command can print nothing else.
///
/// What stands in the program's own literals is taken as it is; what is interpolated comes from outside and is escaped,
/// line feeds too, so that it can neither move the cursor nor look like a line of the command's own,
/// as `name` in `"\(name): no such event"`.
///
/// `TerminalEscapes` says what is escaped, and how.
struct TerminalText: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringInterpolation {
    /// The text.
    private(set) var description: String

    /// Takes what the program itself says.
    init(stringLiteral literal: String) {
        description = literal
    }

    init(stringInterpolation interpolation: StringInterpolation) {
        description = interpolation.text
    }

    /// Takes text from outside.
    init(escaping text: String) {
        self.init(escaping: text, keepingLines: false)
    }

    /// Takes text from outside whose line feeds and tabs are wanted, such as JSON or SQL.
    init(escapingLinesOf text: String) {
        self.init(escaping: text, keepingLines: true)
    }

    private init(escaping text: String, keepingLines: Bool) {
        var bytes: [UInt8] = []
        TerminalEscapes.append(text.utf8, keepingLines: keepingLines, to: &bytes)
        description = String(decoding: bytes, as: UTF8.self)
    }

    /// Two texts, one behind the other.
    static func + (first: TerminalText, second: TerminalText) -> TerminalText {
        "\(first)\(second)"
    }

    /// Puts a text together.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text: String

        init(literalCapacity: Int, interpolationCount: Int) {
            text = ""
            text.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Adds a text that is escaped already.
        mutating func appendInterpolation(_ value: TerminalText) {
            text += value.description
        }

        /// Adds what comes from outside.
        mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += TerminalText(escaping: value.description).description
        }

        /// Adds an error that may have come from anywhere.
        mutating func appendInterpolation(_ error: any Error) {
            text += TerminalText(escaping: "\(error)").description
        }
    }
}

extension Sequence<TerminalText> {
    /// The texts with a separator of our own between them.
    func joined(separator: TerminalText) -> TerminalText {
        var result: TerminalText = ""
        for (position, text) in enumerated() { result = position == 0 ? text : result + separator + text }
        return result
    }
}
