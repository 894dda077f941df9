/// Quoting of text for statements.
package enum SQLText {
    /// A name in double quotes, so that every name is allowed and none is folded to lower case.
    package static func identifier(_ name: String) -> String {
        quoted(name, with: "\"")
    }

    /// A string literal; the sessions set `standard_conforming_strings`, so a backslash has no special meaning.
    package static func literal(_ text: String) -> String {
        quoted(text, with: "'")
    }

    /// An array of texts, as a parameter states it.
    package static func array(_ texts: some Sequence<String>) -> String {
        let elements = texts.map { text in
            // Goes through scalars, because a quotation mark followed by a combining accent is another `Character`.
            text.unicodeScalars.reduce(into: "\"") { element, scalar in
                if scalar == "\"" || scalar == "\\" { element += "\\" }
                element.unicodeScalars.append(scalar)
            } + "\""
        }
        return "{" + elements.joined(separator: ",") + "}"
    }

    /// Creates a schema unless it exists.
    ///
    /// `IF NOT EXISTS` would need the right to create schemas also where somebody has created it for us.
    static func creationIfMissing(ofSchema schema: String) -> String {
        let body = """
            BEGIN
                IF to_regnamespace(\(literal(identifier(schema)))) IS NULL THEN CREATE SCHEMA \(identifier(schema)); END IF;
            END
            """
        return "DO \(literal(body))"
    }

    private static func quoted(_ text: String, with quote: Character) -> String {
        var result = String(quote)
        for character in text.unicodeScalars {
            // No string of the server's can contain NUL, and libpq's strings would end at it.
            if character == "\0" { continue }
            result.unicodeScalars.append(character)
            if Character(character) == quote { result.append(quote) }
        }
        result.append(quote)
        return result
    }
}
