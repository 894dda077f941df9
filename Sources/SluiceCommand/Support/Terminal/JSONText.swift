import Foundation

/// The JSON that commands print, in the same form from all of them.
enum JSONText {
    /// An object on several lines.
    static func of(_ value: some Encodable) throws -> TerminalText {
        try text(of: value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }

    /// An object on one line.
    static func line(of value: some Encodable) throws -> TerminalText {
        try text(of: value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// Escapes for the terminal, which changes only strings, where the escapes are JSON's too.
    private static func text(of value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws
        -> TerminalText
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return TerminalText(escapingLinesOf: String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
