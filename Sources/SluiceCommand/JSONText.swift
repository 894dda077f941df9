import Foundation

/// What a command prints for machines: JSON in the same form from all of them.
enum JSONText {
    /// One object on many lines.
    static func of(_ value: some Encodable) throws -> TerminalText {
        try text(of: value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }

    /// One object on one line.
    static func line(of value: some Encodable) throws -> TerminalText {
        try text(of: value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// What is escaped for the terminal stands in strings, where JSON has the same escapes.
    private static func text(of value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws
        -> TerminalText
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return TerminalText(escapingLinesOf: String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
